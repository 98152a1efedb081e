"""Limits of a share that was counted.

Source: Wilson 1927, Probable inference, the law of succession, and statistical inference, JASA 22.
"""

from __future__ import annotations

import math


def interval(count: int, number: int) -> tuple[float, float]:
    """Return the 95 % limits of ``count`` out of ``number``; 0 and 1 of nothing."""
    return _wilson(count / number, number, 1.96) if number else (0.0, 1.0)


def upper_bound(share: float, trials: int) -> float:
    """Return the one-sided 95 % upper limit of a share."""
    return _wilson(share, trials, 1.645)[1]


def _wilson(share: float, number: int, z: float) -> tuple[float, float]:
    centre = share + z**2 / (2 * number)
    spread = z * math.sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    whole = 1 + z**2 / number
    return max((centre - spread) / whole, 0.0), min((centre + spread) / whole, 1.0)
