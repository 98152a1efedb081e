"""Was the client the limit? Then the figure says nothing about the server."""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import cores_named, count, judge, percent
from .observation import Observation

__all__ = ["engine_ceiling", "generator_busy", "generator_waited"]

_IDLE = 0.25
"""A thread that is busy for less of its time is not what limits anything."""


def generator_busy(seen: Observation) -> Finding | None:
    """The busiest engine thread used more than 85 % of a core: it may be what bounds the throughput.

    A server that is faster than its client is measured as fast as the client; what remains true is "at
    least". 85 % leaves room for the bursts in which a loop is saturated although its mean is not.

    Source: Schroeder, Wierman, Harchol-Balter, "Open versus closed: a cautionary tale", NSDI 2006, on a
    closed client as part of the system; queueing delay grows as 1/(1 − utilisation).
    """
    busy = seen.result.generator_busy
    return judge(
        "generator busy",
        busy,
        invalidates=0.85,
        seen=f"the load engine kept a core {percent(busy)} busy: the client was the limit, "
        f"the {seen.words.server} does at least {count(seen.result.throughput_per_s)}/s",
        remedy=_relief(seen),
    )


def _relief(seen: Observation) -> str:
    if seen.cores.shared:
        return seen.words.own_core
    spare = seen.machine.cores - len({*seen.cores.stack_cores, *seen.cores.generator_cores})
    if spare > 0:
        return f"give the load engine more than {cores_named(seen.cores.generator_cores)}: {spare} are free"
    if len(seen.cores.stack_cores) > 1:
        return seen.words.another_core
    return seen.words.heavier


def generator_waited(seen: Observation) -> Finding | None:
    """An engine thread was ready to run but had no core, for over 5 % (warns) or 15 % (invalidates).

    That wait is counted as latency of the server. Where engine and stacks share cores by the race's own
    choice the wait is unavoidable and the user was told before the start, so it only warns there.

    Source: Documentation/scheduler/sched-stats.rst, /proc/PID/task/TID/schedstat, second field.
    """
    time_s = seen.result.duration_s * seen.generator_threads
    share = seen.result.generator_wait_s / time_s if time_s > 0 else 0.0
    return judge(
        "generator waited",
        share,
        warns=0.05,
        invalidates=None if seen.cores.shared else 0.15,
        seen=f"the load engine waited for a core during {percent(share)} of the {seen.words.span}; "
        "latencies contain it",
        remedy=seen.words.own_core
        if seen.cores.shared
        else f"something else runs on {cores_named(seen.cores.generator_cores)}: {seen.words.intruder}, "
        f"or {seen.words.again} later",
    )


def engine_ceiling(seen: Observation) -> Finding | None:
    """The throughput exceeds 70 % (warns) or 90 % (invalidates) of what the engine itself can do here.

    The ceiling is what the engine reaches against a server that does nothing; near it, differences between
    stacks are squeezed. Silent when the ceiling was not measured, and when an engine with a core of its own idled
    most of the time: it was not the limit, so the ceiling was measured in a bad moment of the machine.

    Source: the same reasoning as calibration of any instrument: a reading near full scale is not a reading.
    """
    idled = not seen.cores.shared and seen.result.generator_busy < _IDLE
    if not seen.ceiling_per_s or idled:
        return None
    share = seen.result.throughput_per_s / seen.ceiling_per_s
    return judge(
        "engine ceiling",
        share,
        warns=0.70,
        invalidates=0.90,
        seen=f"{count(seen.result.throughput_per_s)}/s is {percent(share)} of what the engine can do here",
        remedy=_relief(seen),
    )
