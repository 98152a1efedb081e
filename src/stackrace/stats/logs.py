"""The way back from logarithms: ratios with limits, and differences. Pure."""

from __future__ import annotations

import math

from ..base.numbers import Interval

__all__ = ["FURTHEST", "exp", "growth", "ratio_of"]

FURTHEST = 700.0
"""Beyond this e^x leaves the floating-point numbers; limits of a few noisy launches may get there."""


def exp(log: float) -> float:
    """Return e^``log``, or the furthest number that is held."""
    return math.exp(max(-FURTHEST, min(log, FURTHEST)))


def ratio_of(log: float, half: float) -> Interval:
    """Return exp(``log`` ± ``half``); without limits where ``half`` is infinite or NaN, as with a single block."""
    if not math.isfinite(half):
        return Interval(value=math.exp(log))
    return Interval(value=math.exp(log), low=exp(log - half), high=exp(log + half))


def growth(half: float) -> float | None:
    """Return exp(``half``) − 1, 0.04 for 4 %; None where it is beyond all bounds."""
    return math.expm1(half) if half < FURTHEST else None
