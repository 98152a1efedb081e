"""Limits from resampled blocks, as wide as so few blocks need them."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from .limits import critical
from .pairs import Array

__all__ = ["expanded"]


def expanded(drawn: Array, blocks: int, confidence: float) -> tuple[float, float]:
    """Return the lower and upper limit from bootstrap estimates of ``blocks`` ≥ 2 replicates.

    The plain percentile limits are too narrow for few replicates: they treat the replicates' spread as known, and
    it comes out √(n/(n − 1)) too small. The expanded ones cut off Φ(−√(n/(n − 1))·t_{n−1}) at either end instead
    of half of what ``confidence`` leaves; of a mean they are nearly the t limits.

    ``drawn`` has shape (D,), D ≥ 1, infinite values allowed: limits are always drawn values.

    Source: Hesterberg 2015, What teachers should know about the bootstrap, The American Statistician 69, section
    4.3.2; Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    reach = math.sqrt(blocks / (blocks - 1)) * critical(2, blocks - 1, 1 - confidence)
    tail = NormalDist().cdf(-reach)
    low = np.quantile(drawn, tail, method="inverted_cdf")
    high = np.quantile(drawn, 1 - tail, method="inverted_cdf")
    return float(low), float(high)
