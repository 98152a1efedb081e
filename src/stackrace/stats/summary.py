"""Figures of one stack, with limits: its throughput, and quantiles of its latency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.numbers import Interval
from .bootstrap import expanded
from .limits import critical, ratio_of
from .pairs import ROBUST_FROM, Array, trimmed, trimmed_from

_CONFIDENCE = 0.95
"""Confidence of a stack's own limits. Each interval holds by itself, unlike the limits of pairs."""


def intervals(values: Sequence[Sequence[float]] | Array, confidence: float = _CONFIDENCE) -> tuple[Interval, ...]:
    """Return each stack's exp(m ± t·√(ṽ/n)), from the trimmed mean over its n launches.

    m and v as in `trimmed`; ṽ = (d0·v̄ + df·v)/(d0 + df), d0 = K − 1. The t quantile has df = h − 1 degrees
    of freedom only: all stacks run in the same blocks, so their variances may all err together, and the variances
    of other stacks add none.

    ``values`` has shape (K, B): ln of the response, NaN if there is none. Limits are None with fewer than two
    launches. Raise ValueError if a stack has no launch at all.

    Source: Tukey & McLaughlin 1963, Sankhyā A 25; Smyth 2004; Georges, Buytaert & Eeckhout 2007,
    Statistically rigorous Java performance evaluation (launches, not requests, are the replicates).
    """
    rows = [row[np.isfinite(row)] for row in np.asarray(values, dtype=float)]
    trims = [trimmed(row) for row in rows]
    df = np.array([trimmed_from(len(row)) - 1 if len(row) > 1 else 0 for row in rows])
    own = np.array([variance if many else 0.0 for (_, variance), many in zip(trims, df, strict=True)])
    pooled = float(df @ own / df.sum()) if df.any() else 0.0
    prior = len(rows) - 1
    return tuple(
        _interval(float(m), (prior * pooled + d * v) / max(prior + d, 1), len(row), int(d), confidence)
        for (m, _), v, d, row in zip(trims, own, df, rows, strict=True)
    )


def _interval(mean: float, variance: float, n: int, df: int, confidence: float) -> Interval:
    half = critical(2, df, 1 - confidence) * float(np.sqrt(variance / n)) if df > 0 else math.inf
    return ratio_of(mean, half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """m ± t_p·e: a trimmed mean (`pairs.trimmed`; plain below ten values), and its standard error.

    t_p is the upper quantile p of Student's t with the degrees of freedom of the values that trimming leaves.
    """

    value: float
    error: float
    """Standard error of ``value``; infinite for a single value."""
    values: int
    robust_from: int = ROBUST_FROM
    requests: int | None = None
    """For a share: number of the head's requests; else None. Even without errors, the upper limit allows for hidden
    ones.

    Source: the "rule of three", Hanley & Lippman-Hand 1983, If nothing goes wrong, is everything all right?, JAMA
    249.
    """

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        return self.value - self._reach(p, times)

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        unseen = 0.0 if self.requests is None else -math.log(chance) / (self.requests * times)
        return self.value + self._reach(p, times) + unseen

    def _reach(self, p: float, times: float) -> float:
        if not math.isfinite(self.error):
            return math.inf
        kept = trimmed_from(max(round(self.values * times), 2), self.robust_from)
        return critical(2, kept - 1, 2 * p) * self.error / math.sqrt(times)


def mean_of(values: Sequence[float] | Array, robust_from: int) -> Mean:
    """Return the mean of ``values``, at least one; it is trimmed if there are ``robust_from`` or more."""
    mean, variance = trimmed(np.asarray(values, dtype=float), robust_from)
    error = math.sqrt(float(variance) / len(values)) if len(values) > 1 else math.inf
    return Mean(value=float(mean), error=error, values=len(values), robust_from=robust_from)


def log_ratios(these: Sequence[float], those: Sequence[float]) -> Array:
    """Return ln of ``these`` ÷ ``those``, one by one."""
    return np.asarray(np.log(these) - np.log(those))


def geometric_mean(values: Sequence[float]) -> float:
    """Return exp of the mean of ln ``values``."""
    return float(np.exp(np.log(values).mean()))


Buckets = Sequence[tuple[float, int]]
"""Upper value in seconds and count of each bucket that is not empty."""


def on_common_buckets(launches: Sequence[Buckets]) -> tuple[Array, Array]:
    """Return the ascending values (V,) of all buckets that occur, and the counts (B, V) of each launch in them.

    ``launches`` has B ≥ 1 histograms of the same resolution, whose buckets have the same bounds. The counts of a
    bucket that a launch has twice are added.
    """
    values = np.unique(np.array([value for buckets in launches for value, _ in buckets], dtype=float))
    counts = np.zeros((len(launches), len(values)))
    for row, buckets in zip(counts, launches, strict=True):
        places = np.searchsorted(values, [value for value, _ in buckets])
        np.add.at(row, places, [count for _, count in buckets])
    return values, counts


BEYOND = 50
"""Fewest answers beyond a quantile of a single launch: p99 needs 5,000, p99.9 50,000."""

_CONFIDENCE = 0.95
_SEED = 1979
_LEAST_LAUNCHES = 2

_Histograms = npt.NDArray[np.float64] | npt.NDArray[np.int64]


def enough(count: float, q: float) -> bool:
    """Return True if ``count`` answers are enough for the quantile ``q``, 0 < q < 1, of one launch: N(1 − q) ≥ 50.

    The share of answers beyond the quantile is then known to one part in seven (binomial: 1/√50).
    """
    return count * (1 - q) >= BEYOND * (1 - 1e-9)


def quantile_interval(values: Array, counts: _Histograms, q: float, *, draws: int = 2000) -> Interval:
    """Return the quantile ``q`` of one stack's latency with 95 % limits, in seconds.

    If each launch has `enough` answers, the quantile of each is one replicate, and their trimmed mean in ln units
    gets limits as throughput does (`summary.intervals`). Otherwise the launches' histograms are merged, and
    launches are drawn with replacement, ``draws`` times with a fixed seed, for the limits (`bootstrap.expanded`).
    Answers of one launch belong together, so drawing single answers would give limits that are too narrow.

    ``values`` (V,) are the buckets' upper values in seconds, ascending, all above 0; ``counts`` (B, V) the answers
    of each launch in them. Launches without an answer are left out; ``low`` and ``high`` are None with fewer than
    two, the value is NaN without any. Raise ValueError on other shapes and on q outside (0, 1).

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 8 (clusters are drawn whole);
    Kalibera & Jones 2013, Rigorous benchmarking in reasonable time (the launch is the replicate).
    """
    launches = _answered(_checked(values, counts, q))
    if not len(launches):
        return Interval(value=float("nan"))
    if all(enough(count, q) for count in launches[:, -1]):
        return intervals(np.log(quantiles(values, launches, q))[None])[0]
    return _limits(
        quantiles(values, launches.sum(axis=0)[None], q), _drawn(values, launches, q, draws), len(launches)
    )


def _checked(values: Array, counts: _Histograms, q: float) -> Array:
    """Return the running totals of each launch's counts."""
    array = np.asarray(counts, dtype=float)
    if not 0 < q < 1 or array.ndim != 2 or array.shape[1:] != np.shape(values) or not array.shape[1]:
        raise ValueError("a quantile between 0 and 1 needs one row of counts per launch, one count per bucket")
    totals: Array = np.cumsum(array, axis=1)
    return totals


def _answered(totals: Array) -> Array:
    return totals[totals[:, -1] > 0]


def quantiles(values: Array, totals: Array, q: float) -> Array:
    """Return each row's smallest value with at least ⌈qN⌉ answers at or below it; ``totals`` (B, V) are running."""
    wanted = np.ceil(totals[:, -1:] * q - 1e-9)
    quantiles: Array = np.asarray(values, dtype=float)[(totals < wanted).sum(axis=1)]
    return quantiles


def _drawn(values: Array, totals: Array, q: float, draws: int) -> Array:
    """Return the merged quantile of ``draws`` times B launches; always the same launches for the same B.

    The running totals of merged histograms are weighted sums of the launches' totals, so each draw computes them
    only at the buckets that the bisection visits.
    """
    launches, buckets = totals.shape
    picks = np.random.default_rng(_SEED).integers(0, launches, (draws, launches))
    weights = (picks[:, :, None] == np.arange(launches)).sum(axis=1).astype(float)
    wanted = np.ceil(weights @ totals[:, -1] * q - 1e-9)
    low, high = np.zeros(draws, dtype=np.int64), np.full(draws, buckets - 1)
    while (low < high).any():
        middle = (low + high) // 2
        reached = np.einsum("db,bd->d", weights, totals[:, middle]) >= wanted
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    quantiles: Array = np.asarray(values, dtype=float)[low]
    return quantiles


def _limits(value: Array, drawn: Array, launches: int) -> Interval:
    if launches < _LEAST_LAUNCHES:
        return Interval(value=float(value[0]))
    low, high = expanded(drawn, launches, _CONFIDENCE)
    return Interval(value=float(value[0]), low=low, high=high)
