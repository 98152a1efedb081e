"""Limits by the bootstrap: of the ratio of two runs, from their own series in time, and of few resampled blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ..base.numbers import Interval
from .limits import FURTHEST, critical
from .pairs import Array

_LEAST_BINS = 20
"""Fewest bins of a series; shorter ones have too few blocks to draw from."""

_CONFIDENCE = 0.95
_SEED = 1989
_LEAST_BLOCKS = 4
"""Fewest blocks of a series."""
_MOST_BINS = 500
"""Most bins of a series. Bins of longer series are joined, which bounds the memory and makes blocks longer."""


def throughput_ratio(before: Sequence[float], after: Sequence[float], *, draws: int = 2000) -> Interval:
    """Return mean(after) ÷ mean(before) with 95 % limits by the moving-block bootstrap.

    ``before`` and ``after`` are rates in equal bins in order of time, in any one unit. Neighbouring bins are alike,
    so whole blocks of ℓ = ⌈2·n^(1/3)⌉ neighbours are drawn, each start equally likely, and joined to a series of n
    bins; s² is the variance of ``draws`` such series' ln(mean), times n/(n − ℓ) for the variation that blocks
    within one series cannot show. The limits are ratio·exp(±t·√(s²_before + s²_after)), t with n/ℓ − 1 degrees of
    freedom for each run. The seed is fixed: the same runs give the same limits.

    The limits cover the variation *within* the two runs. They do not cover differences between two starts of a
    server, or between two hours of a machine, which are often larger. They are None with fewer than ``_LEAST_BINS``
    bins in a run, or if a run has hardly any answers.

    ValueError: a series is empty.

    Source: H. R. Künsch 1989, The jackknife and the bootstrap for general stationary observations, Annals of
    Statistics 17, 1217–1241; block length of the order n^(1/3) after Hall, Horowitz & Jing 1995, Biometrika 82.
    """
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if not len(first) or not len(second):
        raise ValueError("a series without bins has no mean")
    if first.mean() <= 0:
        return Interval(value=math.nan)
    ratio = float(second.mean() / first.mean())
    if min(len(first), len(second)) < _LEAST_BINS:
        return Interval(value=ratio)
    dice = np.random.default_rng(_SEED)
    (before_s2, before_df), (after_s2, after_df) = (_variance(series, draws, dice) for series in (first, second))
    half = critical(2, before_df + after_df, 1 - _CONFIDENCE) * math.sqrt(before_s2 + after_s2)
    if not half < FURTHEST:
        return Interval(value=ratio)
    return Interval(value=ratio, low=ratio * math.exp(-half), high=ratio * math.exp(half))


def _variance(series: Array, draws: int, dice: np.random.Generator) -> tuple[float, float]:
    """Return the variance of ln(mean of ``series``) and its degrees of freedom; infinity if a mean may be 0."""
    series = _joined(series)
    n = len(series)
    length = min(math.ceil(2 * n ** (1 / 3)), n // _LEAST_BLOCKS)
    blocks = math.ceil(n / length)
    starts = dice.integers(0, n - length + 1, size=(draws, blocks, 1))
    means = series[starts + np.arange(length)].reshape(draws, -1)[:, :n].mean(axis=1)
    if means.min() <= 0:
        return math.inf, n / length - 1
    return float(np.log(means).var(ddof=1)) * n / (n - length), n / length - 1


def _joined(series: Array) -> Array:
    """Return ``series`` with neighbours averaged so that ``_MOST_BINS`` or fewer are left."""
    width = math.ceil(len(series) / _MOST_BINS)
    whole = len(series) // width
    joined: Array = series[: whole * width].reshape(whole, width).mean(axis=1)
    return joined


def expanded(drawn: Array, blocks: int, confidence: float) -> tuple[float, float]:
    """Return the lower and upper limit from bootstrap estimates of ``blocks`` ≥ 2 replicates.

    Plain percentile limits are too narrow for few replicates: they treat the replicates' spread as known, and it
    comes out √(n/(n − 1)) too small. The expanded limits cut off Φ(−√(n/(n − 1))·t_{n−1}) at either end instead of
    half of 1 − ``confidence``. For a mean they are nearly the t limits.

    ``drawn`` has shape (D,), D ≥ 1, infinite values allowed: limits are always drawn values.

    Source: Hesterberg 2015, What teachers should know about the bootstrap, The American Statistician 69, section
    4.3.2; Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    reach = math.sqrt(blocks / (blocks - 1)) * critical(2, blocks - 1, 1 - confidence)
    tail = NormalDist().cdf(-reach)
    low = np.quantile(drawn, tail, method="inverted_cdf")
    high = np.quantile(drawn, 1 - tail, method="inverted_cdf")
    return float(low), float(high)
