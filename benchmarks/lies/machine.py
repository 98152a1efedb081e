"""A machine that does not hold still: others take its cores, it swaps, its clock jumps."""

from __future__ import annotations

import os
from typing import Any

from tests.core.validity.healthy import healthy
from tests.core.validity.healthy import machine as probed

from stackrace.measure.load import Load

from .fault import Fault, Found, How, fault, in_race, recorded
from .nuisance import hogs, quota
from .racing import liar, runs, up


def _disturbed() -> Found:
    with hogs([min(os.sched_getaffinity(0))]):
        return in_race(runs(liar("truth"), seconds=1.5))


def _throttled() -> Found:
    with up(liar("truth")) as running, quota(0.05):
        return running.found(Load(concurrency=8, duration_s=1.5))


def _replay(name: str, does: str, *expects: str, **changes: Any) -> Fault:
    return recorded(name, does, *expects, seen=healthy(machine=probed(**changes)))


FAULTS: tuple[Fault, ...] = (
    fault("foreign-cpu", "a hog on the stack's core", "foreign CPU", inject=_disturbed, how=How.TIMED),
    fault("throttled", "a CPU quota of a twentieth of a core for us", "throttled", inject=_throttled),
    _replay("steal", "the hypervisor took a tenth", "steal", steal_s=0.8),
    _replay("swap", "40 MiB came back from disk", "swapping", swapped_pages=10_240),
    _replay("major-faults", "200 page faults a second waited for the disk", "major faults", major_faults=400),
    _replay("clock-step", "the wall clock went back 2 s", "clock stepped", clock_step_s=-2.0),
    _replay("unstable-clock", "the kernel gave up the TSC", "unstable clock",
            clocksource_before="tsc", clocksource="hpet"),
    _replay("slower-machine", "the same work costs 40 % more afterwards", "machine speed", speed_change=-0.3),
    _replay("turbo-ends", "the cores' frequency fell by a fifth", "CPU frequency", frequency_change=-0.2),
    _replay("heat", "the processor slowed itself down", "overheated", heat_stops=3),
    _replay("contention", "others had a third of the stacks' cores", "contention",
            stack_cores=2, stack_cores_busy_s=3.2),
    _replay("lost-segments", "one segment in 50 sent again", "retransmits", retransmits=2_000),
)  # fmt: skip
