"""Where more clients stop helping."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.standing import Interval

__all__ = ["LEAST_LEVELS", "knee"]

LEAST_LEVELS = 3


def knee(concurrency: Sequence[int], throughput: Sequence[Interval]) -> int | None:
    """Return the smallest concurrency whose throughput is not significantly below the maximum.

    Significantly below means that its upper limit lies under the lower limit of the level with the highest
    estimate: cautious, as separate limits are. Both sequences go together and hold positive figures; the
    result is one of ``concurrency``, or None with fewer than three levels or where a level has no limits.
    Raises ValueError on sequences of different length.
    """
    levels = sorted(zip(concurrency, throughput, strict=True), key=lambda level: level[0])
    if len(levels) < LEAST_LEVELS or any(found.low is None or found.high is None for _, found in levels):
        return None
    top = max((found for _, found in levels), key=lambda found: found.value)
    return next(clients for clients, found in levels if (found.high or 0.0) >= (top.low or 0.0))
