"""Was the client the limit, or late? Then the figure says nothing about the server."""

from __future__ import annotations

from ..base.verdict import Finding, Unit
from .declaration import Cause, Declaration, Limits, Made
from .observation import Observation
from .texts import OWN_CORE

__all__ = ["dead_time", "engine_ceiling", "generator_busy", "generator_waited"]

_IDLE = 0.25
"""A thread that is busy for less of its time is not what limits anything."""

_RELIEF = {
    "shared": OWN_CORE,
    "spare": "give the load engine more than {engine_cores:cores}: {spare} are free",
    "several": "{knob.another_core}",
    "full": "{knob.heavier}",
    "elsewhere": "start workers with engine=1 on more machines",
}


@Declaration(
    id="generator-busy",
    number=1,
    title="generator busy",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0.85),
    unit=Unit.SHARE,
    of="of a core",
    seen="the load engine kept a core {value:percent} busy, so the client was the limit; "
    "the {knob.server} can do at least {throughput_per_s:count}/s",
    remedy=_RELIEF,
    source="Schroeder, Wierman, Harchol-Balter, Open versus closed: a cautionary tale, NSDI 2006",
)
def generator_busy(observation: Observation) -> Finding | None:
    """The engine's busiest thread may limit the throughput.

    A server that is faster than its client is measured as fast as the client; what remains true is "at
    least". The limit leaves room for the bursts in which a loop is saturated although its mean is not: queueing
    delay grows as 1/(1 − utilisation).
    """
    return generator_busy.judge(
        observation.result.generator_busy,
        cure=_relief(observation),
        throughput_per_s=observation.result.throughput_per_s,
        engine_cores=observation.cores.generator_cores,
        spare=_spare_cores(observation),
    )


def _relief(observation: Observation) -> str:
    if observation.result.engines:
        return "elsewhere"
    if observation.cores.shared:
        return "shared"
    if _spare_cores(observation) > 0:
        return "spare"
    return "several" if len(observation.cores.stack_cores) > 1 else "full"


def _spare_cores(observation: Observation) -> int:
    return observation.machine.cores - len({*observation.cores.stack_cores, *observation.cores.generator_cores})


@Declaration(
    id="generator-waited",
    number=2,
    title="generator waited",
    cause=Cause.PROGRAMS,
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.03, invalidates=0.05),
    unit=Unit.SHARE,
    of="of the time",
    seen="the load engine waited for a core during {value:percent} of the {knob.span}; "
    "the latencies include this wait",
    remedy={
        "shared": OWN_CORE,
        "apart": "something else runs on {engine_cores:cores}: {knob.intruder}, or {knob.again} later",
        "elsewhere": "something else runs on the engines' machines: end it, or {knob.again} later",
    },
    source="Documentation/scheduler/sched-stats.rst, /proc/PID/task/TID/schedstat",
    passing=True,
)
def generator_waited(observation: Observation) -> Finding | None:
    """An engine thread was ready to run but had no core.

    That wait is counted as latency of the server, and a server that handles one connection at a time stands still
    meanwhile: beside an endless loop on the engine's core, at waits of 7 to 12 %, a synchronous worker lost 17 % of
    its throughput and others 8 %. On a quiet machine the engine waits for 1 to 3 %. Where both share
    cores by the race's own choice that cannot be helped, and the user was told before the start: it only warns.
    """
    time_s = observation.result.duration_s * observation.generator_threads
    shared = observation.cores.shared
    return generator_waited.judge(
        observation.result.generator_wait_s / time_s if time_s > 0 else 0.0,
        limits=generator_waited.limits.only_warns if shared else None,
        cure="shared" if shared else "elsewhere" if observation.result.engines else "apart",
        engine_cores=observation.cores.generator_cores,
    )


@Declaration(
    id="engine-ceiling",
    number=8,
    title="engine ceiling",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.70, invalidates=0.90),
    unit=Unit.SHARE,
    of="of the ceiling",
    seen="{throughput_per_s:count}/s is {value:percent} of what the engine can do here",
    remedy=_RELIEF,
    source="as for any instrument: a reading near full scale is not a reading",
)
def engine_ceiling(observation: Observation) -> Finding | None:
    """The throughput is close to the most that the engine can do here.

    The ceiling is what the engine reaches against a server that does nothing; near it, differences between
    stacks are squeezed. Silent when the ceiling was not measured, and when an engine with a core of its own idled
    most of the time: it was not the limit, so the ceiling was measured in a bad moment of the machine.
    """
    idled = not observation.cores.shared and observation.result.generator_busy < _IDLE
    if not observation.ceiling_per_s or idled:
        return None
    return engine_ceiling.judge(
        observation.result.throughput_per_s / observation.ceiling_per_s,
        cure=_relief(observation),
        throughput_per_s=observation.result.throughput_per_s,
        engine_cores=observation.cores.generator_cores,
        spare=_spare_cores(observation),
    )


@Declaration(
    id="dead-time",
    number=4,
    title="dead time",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0.02, invalidates=0.05),
    unit=Unit.SHARE,
    of="of the time",
    seen="connections had no request under way during {value:percent} of the {knob.span}: "
    "the server saw fewer clients than asked for",
    remedy={"shared": OWN_CORE, "apart": "lower {knob.concurrency}, or give the load engine more cores"},
    source="J. D. C. Little, Operations Research 9 (1961) 383–387",
)
def dead_time(observation: Observation) -> Finding | None:
    """Connections of a closed loop had no request under way for some of the time.

    In a closed loop C = X·R̄: concurrency is throughput times mean latency. 1 − X·R̄/C is the share of time
    in which connections had nothing to do: the engine was late, so the server saw less than C clients. The
    engine counts a request as under way from when its connection turns to it, opening included, and up to the
    slice's end if it is not answered then; so neither keep-alive off nor a slow app raises the figure.

    A slice that is bounded by a number of requests has a tail in which connections run out of work one after
    the other; p99 bounds its length, and its share is taken off. Connections rest after a failure: with
    failed or timed-out requests the check is silent, others speak then. In an open loop, and between the pages of
    a visitor who thinks, they rest by design.
    """
    result = observation.result
    if observation.load.is_open or observation.pauses:
        return None
    if result.counts.timed_out or sum(result.counts.failed.values()) or result.duration_s <= 0:
        return None
    tail = 0.0 if observation.load.requests is None else result.latency.p99 / result.duration_s
    share = result.dead_time - tail
    return dead_time.judge(share, cure="shared" if observation.cores.shared else "apart")
