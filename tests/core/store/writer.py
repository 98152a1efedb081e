"""Small fixed values, and a process that writes them: ``writer.py URL RACE_ID LAUNCH_ID SLICES``.

It prints the number of every slice as soon as that is stored, as a block of its own.
"""

from __future__ import annotations

import sys

from stackrace.measure.host import HostFacts
from stackrace.measure.launch import HopUsage, Launch, Slice
from stackrace.measure.load import Counts, Load, LoadResult, Quantiles
from stackrace.measure.resources import Resources
from stackrace.race.results.race import Race
from stackrace.race.run.resume import Checkpoint
from stackrace.stats.values import Question
from stackrace.store import open_store

LOAD = Load(concurrency=20, duration_s=2.0)
STACK = "gunicorn:workers=4"


def make_race(race_id: str, started_at: str = "2024-05-06T07:08:09+00:00") -> Race:
    return Race(
        id=race_id,
        started_at=started_at,
        version="0.1.0",
        app="demo",
        urls=("/",),
        stacks=(STACK, "nginx/http/gunicorn"),
        loads=(LOAD,),
        question=Question.WINNER,
        difference=0.05,
        budget_s=60.0,
        cores=Resources(stack_cores=(0,), generator_cores=(1,)),
        seed=7,
        host=HostFacts(
            system="Linux", kernel="6", cpu="x", cores=2, memory_bytes=1, virtual="", python="3.11", limits={}
        ),
    )


def make_launch(launch_id: str) -> Launch:
    return Launch(id=launch_id, block=0, stack=STACK)


def make_slice(index: int) -> Slice:
    quantiles = Quantiles(count=9, mean=0.1, p50=0.1, p90=0.2, p99=0.3, p999=0.4, max=0.5)
    result = LoadResult(
        started_at=float(index), duration_s=2.0,
        counts=Counts(scheduled=9, ok=9, non2xx=0, failed={}, timed_out=0, in_flight=0, unsent=0),
        latency=quantiles, connect=quantiles, histogram=bytes(range(256)), series=(),
        status_classes={"2xx": 9}, bytes_read=900, connections_opened=20, reconnects=0, established_peak=20,
        generator_cpu_s=0.1, generator_wait_s=0.0, generator_busy=0.1, fairness=1.0, dead_time=0.0,
    )  # fmt: skip
    usage = HopUsage(hop="gunicorn", cpu_s=1.9, processes=5, threads=5, pss_bytes=1 << 27)
    return Slice(index=index, load=LOAD, result=result, usage=(usage,))


def write(url: str, race_id: str, launch_id: str, slices: int) -> None:
    store = open_store(url)
    store.begin(make_race(race_id), Checkpoint(request={}))
    store.add_launch(race_id, make_launch(launch_id))
    for index in range(slices):
        store.add_slice(launch_id, make_slice(index))
        store.end_block(race_id, Checkpoint(request={}, blocks=index + 1))
        print(index, flush=True)  # noqa: T201 (the test reads it)
    store.close()


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
