"""Did an open loop send its requests when they were meant to go out?"""

from __future__ import annotations

import math

from ..model.verdict import Finding
from .judge import judge
from .observation import Observation

__all__ = ["arrivals"]

_ONE_IN_A_THOUSAND = 1.95
"""√N·D exceeds this once in a thousand runs of a true Poisson process: √(−½ ln(0.001/2))."""
_LEAST = 0.01
_ENOUGH = 50


def arrivals(seen: Observation) -> Finding | None:
    """The moments at which requests went out are not spread over the run as those of the asked process would be.

    Given their number, the arrivals of a Poisson process are uniform over the run, and those on a grid more than
    that. The statistic D is how far the share of requests sent ever strays from the share of time gone by. A
    generator that stood still for a second in ten shows as 0.1. The limit is 1.95/√N, which chance exceeds once in
    a thousand runs; and 0.01, so that a million requests do not make an accusation of a few milliseconds. Where all
    connections were taken it was the server that held requests back, and `pool_limit` speaks.

    Source: A. N. Kolmogorov, 1933; N. Smirnov, "Table for estimating the goodness of fit of empirical
    distributions", 1948; D. R. Cox, P. A. W. Lewis, "The Statistical Analysis of Series of Events", 1966.
    """
    distance = seen.result.arrivals_distance
    sent = seen.result.counts.scheduled - seen.result.counts.unsent
    if distance is None or sent < _ENOUGH or seen.result.pool_waits:
        return None
    return judge(
        "arrivals",
        distance,
        invalidates=max(_LEAST, _ONE_IN_A_THOUSAND / math.sqrt(sent)),
        seen=f"requests went out in another rhythm than asked for: their share strays by {distance:.3f} "
        "from that of the time gone by (Kolmogorov–Smirnov D)",
        remedy=seen.words.own_core if seen.cores.shared else f"{seen.words.another_core}; or a lower rate",
        unit=lambda limit: f"{limit:.3f}",
    )
