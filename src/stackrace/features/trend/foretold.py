"""Where the next value of a steady series is to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...stats.limits import critical
from ...stats.pairs import Array

__all__ = ["Band", "foretold"]

_LEAST = 4
"""The fewest values that foretell another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What the next value is likely to be, in the values' unit."""

    value: float
    low: float
    """The lower limit of the prediction."""
    high: float
    """The upper one."""


def foretold(values: Sequence[float] | Array, *, alpha: float = 0.01) -> Band | None:
    """Return the band that holds the next value of the series with a probability of 1 − ``alpha``.

    mean ± t(n − 1, 1 − alpha/2)·s·√(1 + 1/n). ``values`` has shape (n,), finite; None with fewer than ``_LEAST``.

    Source: Hahn & Meeker 1991, Statistical Intervals, section 4.7.
    """
    series = np.asarray(values, dtype=float)
    n = len(series)
    if n < _LEAST:
        return None
    mean, spread = float(series.mean()), float(series.std(ddof=1))
    half = critical(2, n - 1, alpha) * spread * float(np.sqrt(1 + 1 / n))
    return Band(value=mean, low=mean - half, high=mean + half)
