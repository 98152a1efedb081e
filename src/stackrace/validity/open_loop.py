"""Did the requests of an open loop go out at the rate and in the rhythm that was asked for, and come back?"""

from __future__ import annotations

import math

from ..base.numbers import percent
from ..base.units import DURATION
from ..base.verdict import Effect, Finding, Unit
from ..measure.load import LoadResult
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import ANOTHER_CORE, OWN_CORE

__all__ = ["OF_LATENCY", "arrivals", "lag", "overload", "pool_limit"]

_ONE_IN_A_THOUSAND = 1.95
"""√N·D exceeds this once in a thousand runs of a true Poisson process: √(−½ ln(0.001/2))."""
_LEAST = 0.01
_ENOUGH = 50


@Declaration(
    id="arrivals",
    number=6,
    title="arrivals",
    made=(Made.SLICE, Made.RUN),
    effects=(Effect.INVALIDATES,),
    unit=Unit.INDEX,
    threshold="at most {limit:.3f}",
    rule=f"D at most max({_LEAST}, {_ONE_IN_A_THOUSAND}/√N)",
    seen="the requests were not sent in the requested rhythm: D = {value:.3f} (Kolmogorov–Smirnov)",
    remedy={"shared": OWN_CORE, "apart": ANOTHER_CORE},
    source="A. N. Kolmogorov, 1933; N. Smirnov, 1948; D. R. Cox, P. A. W. Lewis, "
    "The Statistical Analysis of Series of Events, 1966",
)
def arrivals(observation: Observation) -> Finding | None:
    """The requests were not sent in the requested rhythm (even or random).

    Given their number, the arrivals of a Poisson process are uniform over the run, and those on a grid more than
    that. The statistic D is how far the share of requests sent ever strays from the share of time gone by. A
    generator that stood still for a second in ten shows as 0.1. Chance exceeds the limit for few requests once in
    a thousand runs; the other keeps a million requests from making an accusation of a few milliseconds. Where all
    connections were taken it was the server that held requests back, and `pool_limit` speaks.
    """
    distance = observation.result.arrivals_distance
    sent = observation.result.counts.scheduled - observation.result.counts.unsent
    if distance is None or sent < _ENOUGH or observation.result.pool_waits:
        return None
    return arrivals.judge(
        distance,
        limits=Limits(invalidates=max(_LEAST, _ONE_IN_A_THOUSAND / math.sqrt(sent))),
        cure="shared" if observation.cores.shared else "apart",
    )


_LEAST_LAG_S = 100e-6
_LAG_SHARE = 0.05


@Declaration(
    id="lag",
    number=3,
    title="lag",
    made=(Made.SLICE, Made.RUN),
    effects=(Effect.INVALIDATES,),
    unit=Unit.SECONDS,
    rule=f"p99 at most {DURATION.format(_LEAST_LAG_S)}, or {percent(_LAG_SHARE)} of the median latency",
    seen="1 % of the requests were sent more than {value:duration} late: the engine was busy or had "
    "no core, and the latencies include this wait",
    remedy={"shared": OWN_CORE, "apart": ANOTHER_CORE},
    source="G. Tene, How NOT to measure latency, 2013; Schroeder et al., NSDI 2006",
)
def lag(observation: Observation) -> Finding | None:
    """1 % of the requests were sent too late.

    Latency counts from the intended time, so the delay is in it, but it is the engine's, not the server's. Where
    all connections were taken it is not the engine's either, and `pool_limit` speaks.
    """
    late = observation.result.lag
    if not observation.load.is_open or late is None or not late.count or observation.result.pool_waits:
        return None
    return lag.judge(
        late.p99,
        limits=Limits(invalidates=max(_LEAST_LAG_S, _LAG_SHARE * observation.result.latency.p50)),
        cure="shared" if observation.cores.shared else "apart",
    )


@Declaration(
    id="overload",
    number=5,
    title="overload",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0.005),
    unit=Unit.SHARE,
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

    Then the latencies are those of a queue that grows as long as the load lasts: they say how long it lasted, not
    how fast the server is. What a steady system has under way at any moment is no pile, so only what the second
    half added to it counts, less three standard deviations of a Poisson number.
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


@Declaration(
    id="pool-limit",
    number=5,
    title="pool limit",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(warns=0),
    seen="{value:count} requests fell due while all {clients:count} connections were in use, and waited for one",
    remedy="raise {knob.concurrency}, the maximum of connections in an open loop",
    source="Schroeder et al., NSDI 2006",
)
def pool_limit(observation: Observation) -> Finding | None:
    """Requests of an open loop fell due while all connections were in use.

    They waited for one, which is in their latency, as users wait who find a server full. Whether that limit is the
    server's or only ours is for the user to say.
    """
    if not observation.load.is_open:
        return None
    return pool_limit.judge(observation.result.pool_waits, clients=observation.load.concurrency)


def _piled_up(observation: Observation) -> float:
    """Return by how many requests the queue grew in the second half of the time in which requests fell due.

    What was answered after that time was outstanding at its end, be it under way or waiting for a connection.
    """
    due_s = _due_s(observation, observation.result)
    bins = [span for span in observation.result.series if span.start_s < due_s]
    if len(bins) < 2:
        return 0.0
    late = sum(span.ok + span.errors for span in observation.result.series if span.start_s >= due_s)
    before, after = bins[len(bins) // 2 - 1].in_flight, max(bins[-1].in_flight, late)
    return max(0.0, after - before - 3 * math.sqrt(after))


def _due_s(observation: Observation, result: LoadResult) -> float:
    if observation.load.requests is None or not observation.load.rate_per_s:
        return result.duration_s
    return min(result.duration_s, observation.load.requests / observation.load.rate_per_s)


OF_LATENCY = frozenset({lag.declaration.id, arrivals.declaration.id})
"""The findings about when exactly requests were sent, which only latencies hang on."""
