"""What a cluster costs and gains: merged histograms, starts, the coordinator, two hosts, narrow and bad wires."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

from tests.features.cluster.racing import RUNS, slices_of
from tests.features.cluster.racing import race as raced

from stackrace.measure.engine.engine import record
from stackrace.measure.engine.histogram import distribution
from stackrace.measure.engine.outcome import merged
from stackrace.measure.load import Load, LoadResult
from stackrace.measure.workload import Request, Workload
from stackrace.race.preparation.prepared import prepared

from ..rig.servers import null_server
from .inside import race
from .racing import command, inside, install, laboratory, report_of

_MERGED = 4


def merging() -> bool:
    """Merge four recordings in every order, and print how many buckets differ from the sum of them all."""
    workload, load = Workload(requests=(Request(path="/"),), answers=()), Load(concurrency=4, duration_s=2.0)
    with null_server(0) as named, ThreadPoolExecutor(_MERGED) as pool:
        host, _, port = named.rpartition(":")
        address = (host, int(port))
        starts_s = time.monotonic() + 0.2
        playing = [
            pool.submit(record, address=address, workload=workload, load=load, starts_s=starts_s)
            for _ in range(_MERGED)
        ]
        recordings = [(each.result(), 0.0) for each in playing]
    summed = sum((_buckets(merged([recording])) for recording in recordings), Counter())
    results = [merged(order) for order in itertools.permutations(recordings)]
    differ = max(sum(((_buckets(one) - summed) + (summed - _buckets(one))).values()) for one in results)
    print(f"{_MERGED} engines, {summed.total():,} requests in {len(summed):,} buckets, "
          f"merged in {len(results)} orders: {differ} counts differ   (goal: 0)")  # fmt: skip
    return differ == 0


def _buckets(result: LoadResult) -> Counter[float]:
    return Counter({bucket.value_s: bucket.count for bucket in distribution(result.histogram)})


_STARTS = 200
_FAR_S = 0.01
"""On each way; a round trip takes 20 ms."""
_AHEAD_S = {"near": 77, "far": 5000}
_APART_GOAL_S = 0.005


def starts() -> bool:
    """Begin a load so often on two engines, and print by how much they were apart; tells whether the goal holds."""
    with laboratory() as lab:
        scheduler, host = lab.machine("scheduler"), lab.machine("host")
        near = lab.machine("near", cores="1", ahead_s=_AHEAD_S["near"])
        far = lab.machine("far", cores="1", ahead_s=_AHEAD_S["far"], delay_s=_FAR_S)
        address = lab.cluster(scheduler, {"engine": [near, far], "stack": [host]})
        found = inside(scheduler, "starts", address, _STARTS)
    apart, errors, bounds = [], [], []
    for start in found:
        off = {name: one["offset_s"] - _AHEAD_S[name] for name, one in start.items()}
        true = {name: one["late_s"] + off[name] for name, one in start.items()}
        apart.append(max(true.values()) - min(true.values()))
        errors += [abs(each) for each in off.values()]
        bounds += [one["bound_s"] for one in start.values()]
    p99 = quantiles(apart, n=100)[98]
    within = sum(error <= bound for error, bound in zip(errors, bounds, strict=True))
    print(
        f"{len(found)} starts of two engines, clocks {_AHEAD_S['far']} s and {_AHEAD_S['near']} s ahead, 20 ms away"
    )
    print(f"  truly apart: median {_ms(quantiles(apart, n=2)[0])}, p99 {_ms(p99)}, most {_ms(max(apart))}"
          f"   (goal: p99 at most {_ms(_APART_GOAL_S)})")  # fmt: skip
    print(f"  offsets: off by {_ms(max(errors))} at most, within their bound {within} of {len(errors)} times")
    return p99 <= _APART_GOAL_S


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


_COORDINATED = 8
_COPIES = 25
"""Each engine stands for so many, to see what 200 would cost."""
_SHARE_GOAL = 0.02


def cost() -> bool:
    """Print the coordinator's share of a core with 8 engines and with 200; tells whether 8 stay below 2 %."""
    with laboratory() as lab:
        # the coordinator has a core of its own, as it has a machine of its own
        scheduler, host = lab.machine("scheduler"), lab.machine("host", cores="1")
        engines = [lab.machine(f"engine-{number}", cores="1") for number in range(_COORDINATED)]
        address = lab.cluster(scheduler, {"engine": engines, "stack": [host]})
        few, many = (inside(scheduler, "cost", address, copies) for copies in (1, _COPIES))
    print("the coordinator while slices of 0.6 s are measured")
    for found in (few, many):
        goal = "   (goal: under 2 %)" if found is few else "   (8 processes, which stand for 25 each)"
        print(f"  {found['engines']:3} engines   {100 * found['share']:6.2f} % of a core, "
              f"{1e3 * found['per_slice_s']:.1f} ms of CPU a slice of {found['slice_s']:.2f} s{goal}")  # fmt: skip
    return few["share"] < _SHARE_GOAL


_RACES = 3
_TIME_GOAL = 0.60


def hosts() -> bool:
    """Race a page that sleeps on one host and on two, and print the times; tells whether two take at most 60 %."""
    took = {1: [], 2: []}
    install()
    with laboratory() as lab:
        scheduler = lab.machine("scheduler")
        for many in took:
            engines = [lab.machine(f"engine-{many}{number}", cores=str(number)) for number in range(many)]
            machines = [lab.machine(f"host-{many}{number}", cores=str(number)) for number in range(many)]
            address = lab.cluster(scheduler, {"engine": engines, "stack": machines})
            for _ in range(_RACES + 1):
                begun = time.monotonic()
                run = scheduler.run(*command(lab, address, "--budget", "4min"), timeout_s=400)
                wall_s = time.monotonic() - begun
                if run.returncode not in (0, 3):
                    raise SystemExit(run.stderr)
                document = report_of(lab, scheduler)
                race = document["race"]
                took[many].append(race["elapsed_s"])
                blocks = 1 + max(one["block"] for one in document["launches"])
                print(f"  {many} host{'s' * (many > 1)}: exit code {run.returncode}, {document['answer']['kind']}, "
                      f"{race['elapsed_s']:.1f} s of the budget, {wall_s:.1f} s in all, {blocks} blocks",
                      flush=True)  # fmt: skip
            lab.end(*engines, *machines, scheduler)
    # the first of each builds what later ones find
    one, two = (median(elapsed_s[1:]) for elapsed_s in took.values())
    print(
        f"two hosts answer in {100 * two / one:.0f} % of the time of one   (goal: at most {100 * _TIME_GOAL:.0f} %)"
    )
    return two / one <= _TIME_GOAL


_PAIR = ("gunicorn", "waitress")
_NARROW = 500_000
"""Bytes per second, headers included, of the wire to one engine."""
_LOSS = 0.02
_DELAY_S = 0.005


def wires() -> bool:
    """Race over a narrow wire and a bad one, and print what was seen of them; tells whether it is right."""
    with tempfile.TemporaryDirectory() as folder, prepared(replace(race(Path(folder)), stacks=_PAIR)):
        pass
    with laboratory() as lab:
        lab.scheduler = lab.machine("scheduler")
        narrow = lab.machine("narrow", cores="1", bytes_per_s=_NARROW)
        bad = lab.machine("bad", cores="1", delay_s=_DELAY_S, loss=_LOSS)
        lab.address = lab.cluster(lab.scheduler, {"engine": [narrow, bad], "stack": [lab.machine("host")]})
        document = raced(lab, *RUNS, "--url", "/ten-kilobytes/")
    paths = {path["engine"]: path for path in document["race"]["network"]}
    rates = [paths["narrow"][f"engine_{way}_bytes_per_s"] for way in ("takes", "sends")]
    trips = [paths[name]["round_trip_s"] for name in ("narrow", "bad")]
    lost = paths["bad"]["retransmits"] / paths["bad"]["segments_sent"]
    slices = slices_of(document)
    full = [one for one in slices if "network-full" in {finding["id"] for finding in one["findings"]}]
    counting = sum(one["valid"] for one in full)
    is_said = any("Between narrow and host" in note for note in document["words"]["notes"])
    goals = {
        f"a wire of {_NARROW:,} bytes/s takes and sends {rates[0]:,.0f} and {rates[1]:,.0f}": all(
            0.8 * _NARROW < rate < 1.2 * _NARROW for rate in rates
        ),
        f"round trips of {1000 * trips[0]:.1f} ms and, delayed, {1000 * trips[1]:.1f} ms": (
            trips[0] < 2 * _DELAY_S <= trips[1]
        ),
        f"{100 * lost:.1f} % are sent again over a wire that loses {100 * _LOSS:.0f} %": _LOSS / 2 < lost < 1,
        f"{len(full)} of {len(slices)} slices filled the narrow wire, {counting} of them count": (
            bool(full) and not counting
        ),
        "the report says what lies between narrow and host": is_said,
    }
    for what, is_right in goals.items():
        print(f"{what}   ({'right' if is_right else 'WRONG'})", flush=True)
    return all(goals.values())
