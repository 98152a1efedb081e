"""Did an open loop send its requests when they were meant to go out?"""

from __future__ import annotations

import math

from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import ANOTHER_CORE, OWN_CORE

__all__ = ["arrivals"]

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
