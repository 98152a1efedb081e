"""Checks of the client: if it was the limit, late, or out of rhythm, the figures say nothing about the server."""

from __future__ import annotations

import math

from ..base.numbers import percent
from ..base.units import DURATION
from ..base.verdict import Effect, Finding, Unit
from ..measure.load import LoadResult
from .declaration import Cause, Limits, on_slice_and_run
from .observation import Observation

_IDLE = 0.25
"""Busy share of a thread below which it cannot be the limit."""

_ENGINE_CORE = "{knob.engine_core}"
_ANOTHER_CORE = "{knob.another_core}; or a lower rate"
_RELIEF = {
    "shared": _ENGINE_CORE,
    "spare": "give the load engine more than {engine_cores:cores}: {spare} are free",
    "several": "{knob.another_core}",
    "full": "{knob.heavier}",
    "elsewhere": "start workers with engine=1 on more machines",
}


@on_slice_and_run(
    id="generator-busy",
    number=1,
    limits=Limits(invalidates=0.85),
    of="of a core",
    seen="the load engine kept a core {value:percent} busy, so the client was the limit; "
    "the {knob.server} can do at least {throughput_per_s:count}/s",
    remedy=_RELIEF,
    source="Schroeder, Wierman, Harchol-Balter, Open versus closed: a cautionary tale, NSDI 2006",
)
def _generator_busy(observation: Observation) -> Finding | None:
    """The engine's busiest thread may limit the throughput.

    A server that is faster than its client is measured as fast as the client; only "at least" remains true. The
    limit leaves room for bursts in which a loop is saturated although its mean is not: queueing delay grows as 1/(1
    − utilisation).
    """
    return _generator_busy.judge(
        observation.result.generator_busy,
        cure=_remedy_key(observation),
        throughput_per_s=observation.result.throughput_per_s,
        engine_cores=observation.cores.generator_cores,
        spare=_spare_cores(observation),
    )


def _remedy_key(observation: Observation) -> str:
    """Return the key of the declared remedy that fits: it depends on the cores of stacks and engine."""
    if observation.result.engines:
        return "elsewhere"
    if observation.cores.shared:
        return "shared"
    if _spare_cores(observation) > 0:
        return "spare"
    return "several" if len(observation.cores.stack_cores) > 1 else "full"


def _spare_cores(observation: Observation) -> int:
    return observation.machine.cores - len({*observation.cores.stack_cores, *observation.cores.generator_cores})


@on_slice_and_run(
    id="generator-waited",
    number=2,
    cause=Cause.PROGRAMS,
    limits=Limits(warns=0.03, invalidates=0.05),
    of="of the time",
    seen="the load engine waited for a core during {value:percent} of the {knob.span}; "
    "the latencies include this wait",
    remedy={
        "shared": _ENGINE_CORE,
        "throttled": "lift the container's CPU quota and bind it to whole cores instead (cpuset)",
        "apart": "something else runs on {engine_cores:cores}: {knob.intruder}, or {knob.verb} later",
        "elsewhere": "something else runs on the engines' machines: end it, or {knob.verb} later",
    },
    source="Documentation/scheduler/sched-stats.rst, /proc/PID/task/TID/schedstat",
    passing=True,
)
def _generator_waited(observation: Observation) -> Finding | None:
    """An engine thread was ready to run but had no core.

    That wait is counted as latency of the server, and a server that handles one connection at a time stands still
    meanwhile: beside an endless loop on the engine's core, at waits of 7 to 12 %, a synchronous worker lost 17 % of
    its throughput and others 8 %. On a quiet machine the engine waits for 1 to 3 %. If engine and stack share
    cores by the race's own choice, the check only warns: the wait is unavoidable, and the user was warned before.
    It also warns if a quota that is declared to be part of the race explains at least half of the wait.
    """
    time_s = observation.result.duration_s * observation.generator_threads
    wait_s, shared = observation.result.generator_wait_s, observation.cores.shared
    throttled = 0 < wait_s <= 2 * observation.machine.throttled_s
    is_meant = shared or (throttled and observation.cores.quota)
    apart = "throttled" if throttled else "apart"
    return _generator_waited.judge(
        wait_s / time_s if time_s > 0 else 0.0,
        limits=_generator_waited.limits.only_warns if is_meant else None,
        cure="shared" if shared else "elsewhere" if observation.result.engines else apart,
        engine_cores=observation.cores.generator_cores,
    )


@on_slice_and_run(
    id="engine-ceiling",
    number=8,
    limits=Limits(warns=0.70, invalidates=0.90),
    of="of the ceiling",
    seen="{throughput_per_s:count}/s is {value:percent} of what the engine can do here",
    remedy=_RELIEF,
    source="as for any instrument: a reading near full scale is not a reading",
)
def _engine_ceiling(observation: Observation) -> Finding | None:
    """The throughput is close to the most that the engine can do here.

    The ceiling is the engine's throughput against a server that does nothing. Near the ceiling, differences between
    stacks come out too small. The check is silent if the ceiling was not measured, and if an engine with a core of
    its own idled most of the time: such an engine was not the limit, so the measured ceiling is too low.
    """
    idled = not observation.cores.shared and observation.result.generator_busy < _IDLE
    if not observation.ceiling_per_s or idled:
        return None
    return _engine_ceiling.judge(
        observation.result.throughput_per_s / observation.ceiling_per_s,
        cure=_remedy_key(observation),
        throughput_per_s=observation.result.throughput_per_s,
        engine_cores=observation.cores.generator_cores,
        spare=_spare_cores(observation),
    )


@on_slice_and_run(
    id="dead-time",
    number=4,
    limits=Limits(warns=0.02, invalidates=0.05),
    of="of the time",
    seen="connections had no request under way during {value:percent} of the {knob.span}: "
    "the server saw fewer clients than asked for",
    remedy={"shared": _ENGINE_CORE, "apart": "lower {knob.concurrency}, or give the load engine more cores"},
    source="J. D. C. Little, Operations Research 9 (1961) 383–387",
)
def _dead_time(observation: Observation) -> Finding | None:
    """Connections of a closed loop had no request under way for some of the time.

    In a closed loop C = X·R̄: concurrency is throughput times mean latency. 1 − X·R̄/C is the share of time
    in which connections had nothing to do: the engine was late, so the server saw less than C clients. The
    engine counts a request as under way from when its connection turns to it, opening included, and up to the
    slice's end if it is not answered then. So neither keep-alive off nor a slow app raises the figure.

    A slice that is limited by a number of requests has a tail in which connections run out of work one after the
    other. p99 bounds the tail's length, and its share is subtracted. Connections rest after a failure: with failed
    or timed-out requests the check is silent, and other checks report. In an open loop, and between the pages of a
    visitor who thinks, connections rest by design.
    """
    result = observation.result
    if observation.load.is_open or observation.pauses:
        return None
    if result.counts.timed_out or sum(result.counts.failed.values()) or result.duration_s <= 0:
        return None
    tail = 0.0 if observation.load.requests is None else result.latency.p99 / result.duration_s
    share = result.dead_time - tail
    return _dead_time.judge(share, cure="shared" if observation.cores.shared else "apart")


_ONE_IN_A_THOUSAND = 1.95
"""Limit that √N·D exceeds once in a thousand runs of a true Poisson process: √(−½ ln(0.001/2))."""
_LEAST = 0.01
_ENOUGH = 50


@on_slice_and_run(
    id="arrivals",
    number=6,
    effects=(Effect.INVALIDATES,),
    unit=Unit.INDEX,
    threshold="at most {limit:.3f}",
    rule=f"D at most max({_LEAST}, {_ONE_IN_A_THOUSAND}/√N)",
    seen="the requests were not sent in the requested rhythm: D = {value:.3f} (Kolmogorov–Smirnov)",
    remedy={"shared": _ENGINE_CORE, "apart": _ANOTHER_CORE},
    source="A. N. Kolmogorov, 1933; N. Smirnov, 1948; D. R. Cox, P. A. W. Lewis, "
    "The Statistical Analysis of Series of Events, 1966",
)
def _arrivals(observation: Observation) -> Finding | None:
    """The requests were not sent in the requested rhythm (even or random).

    Given their number, the arrivals of a Poisson process are uniform over the run, and arrivals on a grid even more
    so. The statistic D is the largest difference between the share of requests sent and the share of time gone by.
    A generator that stood still for a second in ten has D = 0.1. The limit has two parts: chance exceeds the part
    for few requests once in a thousand runs; the other part prevents that a million requests turn a few
    milliseconds into a finding. If all connections were in use, the server held requests back, and *pool limit*
    reports.
    """
    distance = observation.result.arrivals_distance
    sent = observation.result.counts.scheduled - observation.result.counts.unsent
    if distance is None or sent < _ENOUGH or observation.result.pool_waits:
        return None
    return _arrivals.judge(
        distance,
        limits=Limits(invalidates=max(_LEAST, _ONE_IN_A_THOUSAND / math.sqrt(sent))),
        cure="shared" if observation.cores.shared else "apart",
    )


_LEAST_LAG_S = 100e-6
_LAG_SHARE = 0.05


@on_slice_and_run(
    id="lag",
    number=3,
    effects=(Effect.INVALIDATES,),
    unit=Unit.SECONDS,
    rule=f"p99 at most {DURATION.format(_LEAST_LAG_S)}, or {percent(_LAG_SHARE)} of the median latency",
    seen="1 % of the requests were sent more than {value:duration} late: the engine was busy or had "
    "no core, and the latencies include this wait",
    remedy={"shared": _ENGINE_CORE, "apart": _ANOTHER_CORE},
    source="G. Tene, How NOT to measure latency, 2013; Schroeder et al., NSDI 2006",
)
def _lag(observation: Observation) -> Finding | None:
    """1 % of the requests were sent too late.

    Latency counts from the intended time, so it contains the delay, but the engine caused the delay, not the
    server. If all connections were in use, the engine did not cause the delay either, and *pool limit* reports.
    """
    late = observation.result.lag
    if not observation.load.is_open or late is None or not late.count or observation.result.pool_waits:
        return None
    return _lag.judge(
        late.p99,
        limits=Limits(invalidates=max(_LEAST_LAG_S, _LAG_SHARE * observation.result.latency.p50)),
        cure="shared" if observation.cores.shared else "apart",
    )


@on_slice_and_run(
    id="overload",
    number=5,
    limits=Limits(invalidates=0.005),
    of="of the requests",
    seen="{missing:count} of {scheduled:count} requests ({value:percent}) were never sent or piled up: "
    "the {knob.server} does not keep up with {rate_per_s:g}/s, so the latencies only show "
    "how long the {knob.span} was",
    remedy="choose a rate below {throughput_per_s:count}/s, which it answered",
    source="J. D. C. Little, Operations Research 9 (1961); M. Harchol-Balter, "
    "Performance Modeling and Design of Computer Systems, 2013, chapter 2",
)
def overload(observation: Observation) -> Finding | None:
    """Many requests of an open loop were never sent, or piled up unanswered.

    Then the latencies are those of a queue that grows as long as the load lasts: they show how long it lasted, not
    how fast the server is. A steady system always has some requests under way, so only the growth in the second
    half counts, minus three standard deviations of a Poisson number.
    """
    scheduled = observation.result.counts.scheduled
    if not observation.load.is_open or not scheduled:
        return None
    missing = observation.result.counts.unsent + _piled_up(observation)
    return overload.judge(
        missing / scheduled,
        missing=missing,
        scheduled=scheduled,
        rate_per_s=observation.load.rate_per_s or 0.0,
        throughput_per_s=observation.result.throughput_per_s,
    )


@on_slice_and_run(
    id="pool-limit",
    number=5,
    limits=Limits(warns=0),
    seen="{value:count} requests fell due while all {clients:count} connections were in use, and waited for one",
    remedy="raise {knob.concurrency}, the maximum of connections in an open loop",
    source="Schroeder et al., NSDI 2006",
)
def _pool_limit(observation: Observation) -> Finding | None:
    """Requests of an open loop fell due while all connections were in use.

    The requests waited for a connection, and their latency contains the wait, as users wait if a server is full.
    The user must decide if that limit is a property of the server or only of the load.
    """
    if not observation.load.is_open:
        return None
    return _pool_limit.judge(observation.result.pool_waits, clients=observation.load.concurrency)


def _piled_up(observation: Observation) -> float:
    """Return the growth of the queue, in requests, in the second half of the time in which requests fell due.

    Requests answered after that time were outstanding at its end, either under way or waiting for a connection.
    """
    due_s = _scheduled_s(observation, observation.result)
    bins = [span for span in observation.result.series if span.start_s < due_s]
    if len(bins) < 2:
        return 0.0
    late = sum(span.ok + span.errors for span in observation.result.series if span.start_s >= due_s)
    before, after = bins[len(bins) // 2 - 1].in_flight, max(bins[-1].in_flight, late)
    return max(0.0, after - before - 3 * math.sqrt(after))


def _scheduled_s(observation: Observation, result: LoadResult) -> float:
    if observation.load.requests is None or not observation.load.rate_per_s:
        return result.duration_s
    return min(result.duration_s, observation.load.requests / observation.load.rate_per_s)


OF_LATENCY = frozenset({_lag.declaration.id, _arrivals.declaration.id})
"""Ids of the findings about the exact moments of requests, which affect only latencies."""
