"""What four engines recorded, merged, against what one would have that recorded all."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from stackrace.measure.engine.engine import record
from stackrace.measure.engine.histogram import distribution
from stackrace.measure.engine.outcome import merged
from stackrace.measure.load import Load, LoadResult
from stackrace.measure.workload import Request, Workload

from ..rig.null_server import null_server

ENGINES = 4


def merging() -> bool:
    """Merge four recordings in every order, and print how many buckets differ from the sum of them all."""
    workload, load = Workload(requests=(Request(path="/"),), answers=()), Load(concurrency=4, duration_s=2.0)
    with null_server(0) as named, ThreadPoolExecutor(ENGINES) as pool:
        host, _, port = named.rpartition(":")
        address = (host, int(port))
        starts_s = time.monotonic() + 0.2
        playing = [
            pool.submit(record, address=address, workload=workload, load=load, starts_s=starts_s)
            for _ in range(ENGINES)
        ]
        recordings = [(each.result(), 0.0) for each in playing]
    summed = sum((_buckets(merged([recording])) for recording in recordings), Counter())
    results = [merged(order) for order in itertools.permutations(recordings)]
    differ = max(sum(((_buckets(one) - summed) + (summed - _buckets(one))).values()) for one in results)
    print(f"{ENGINES} engines, {summed.total():,} requests in {len(summed):,} buckets, "
          f"merged in {len(results)} orders: {differ} counts differ   (goal: 0)")  # fmt: skip
    return differ == 0


def _buckets(result: LoadResult) -> Counter[float]:
    return Counter({bucket.value_s: bucket.count for bucket in distribution(result.histogram)})
