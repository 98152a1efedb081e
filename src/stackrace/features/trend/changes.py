"""Change points in a series of values, and outliers after a steady stretch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ...base.numbers import Interval
from ...stats.limits import critical
from ...stats.pairs import Array

ALPHA = 0.01
"""Default probability that a series without a change shows one."""
LEAST = 3
"""The shortest stretch between two changes, in values."""
MOST = 200
"""The most values examined, the last ones: the work grows with their square."""
_LARGER = 10
"""The most shuffled orders that may exceed a change; the number of orders follows from alpha."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change between two stretches of a series."""

    at: int
    """Index in the series of the first value after it."""
    shift: Interval
    """Shift of the values after it against those before, in their own unit: Hodges and Lehmann's estimate, with 95
    % limits."""
    p: float
    """Share of shuffled series with a change as large."""


def changes(values: Sequence[float] | Array, *, alpha: float = ALPHA) -> tuple[Change, ...]:
    """Return the changes of a series, in its order; each stretch between them has ``LEAST`` values or more.

    E-divisive: of all splits of a stretch, and all ends of the part behind it, take the one whose two parts differ
    most by the energy distance. It is a change if at most a share ``alpha`` of shuffled orders of the stretch have
    a larger one; then both sides are examined in the same way. No distribution of the values is assumed. A series
    without a change shows one with a probability of ``alpha``.

    ``values`` has shape (n,), finite, in order of time; of more than ``MOST`` the last ones count. Equal series
    have equal changes. ``alpha`` is above 0 and at most 0.1; see `least_values` for the number of values it takes.

    Source: Matteson & James 2014, A nonparametric approach for multiple change point analysis of multivariate data,
    JASA 109; Daly et al. 2020, The use of change point detection to identify software performance regressions in a
    continuous integration system, ICPE. Limits of a shift: Hollander & Wolfe 1999, Nonparametric Statistical
    Methods, section 4.3.
    """
    series = np.asarray(values, dtype=float)
    skipped = max(len(series) - MOST, 0)
    found = sorted(_within(series[skipped:], 0, alpha, np.random.default_rng(1)))
    edges = [0, *(at for at, _ in found), len(series) - skipped]
    return tuple(
        _change(series[skipped:], edges[i], at, edges[i + 2], p, skipped) for i, (at, p) in enumerate(found)
    )


def least_values(alpha: float) -> int:
    """Return the number of values that a series needs for any change at ``alpha``.

    Of n values in two clearly separate halves, 2 of the n!/((n/2)!·(n/2)!) ways to assign them look as different.
    """
    return next(n for n in range(2 * LEAST, 2 * MOST) if 2 / math.comb(n, n // 2) <= alpha)


def _within(series: Array, first: int, alpha: float, dice: np.random.Generator) -> list[tuple[int, float]]:
    """Return the changes of a stretch that begins at ``first``: index of the first value after each, and its p."""
    if len(series) < 2 * LEAST:
        return []
    distances = np.abs(series[:, None] - series[None, :])
    at, largest = _split(distances)
    if largest <= 0 or len(series) < least_values(alpha):
        return []
    orders = math.ceil(_LARGER / alpha) - 1
    larger = 0
    for _ in range(orders):
        order = dice.permutation(len(series))
        # equally large counts as larger, up to rounding
        larger += _split(distances[np.ix_(order, order)])[1] >= largest * (1 - 1e-9)
        if larger >= _LARGER:
            return []
    p = (larger + 1) / (orders + 1)
    before = _within(series[:at], first, alpha, dice)
    after = _within(series[at:], first + at, alpha, dice)
    return [*before, (first + at, p), *after]


def _split(distances: Array) -> tuple[int, float]:
    """Return the index of the best split of the stretch with these distances, and the statistic there.

    nm/(n + m) · (2·mean|x − y| − mean|x − x'| − mean|y − y'|), over all splits into n values before and m ≥ LEAST
    right behind; the means within a part are over its pairs.
    """
    count = len(distances)
    total = np.zeros((count + 1, count + 1))
    total[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    split = np.arange(LEAST, count - LEAST + 1)[:, None]
    end = np.arange(2 * LEAST, count + 1)[None, :]
    n, m = split, end - split
    inside = total[split, split] / 2
    between = total[split, end] - total[split, split]
    behind = (total[end, end] - 2 * total[split, end] + total[split, split]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        energy = 2 * between / (n * m) - 2 * inside / (n * (n - 1)) - 2 * behind / (m * (m - 1))
        statistic = np.where(m >= LEAST, n * m / (n + m) * energy, -np.inf)
    best = int(statistic.argmax())
    return int(split[best // statistic.shape[1], 0]), float(statistic.flat[best])


def _change(series: Array, start: int, at: int, end: int, p: float, skipped: int) -> Change:
    shifts = np.sort((series[at:end][:, None] - series[start:at][None, :]).ravel())
    low, high = _ranks(at - start, end - at)
    shift = Interval(value=float(np.median(shifts)), low=float(shifts[low]), high=float(shifts[high]))
    return Change(at=at + skipped, shift=shift, p=p)


def _ranks(n: int, m: int) -> tuple[int, int]:
    """Return the indices of the 95 % limits among the n·m sorted shifts; the outermost if there are too few."""
    below = n * m / 2 - NormalDist().inv_cdf(0.975) * np.sqrt(n * m * (n + m + 1) / 12)
    rank = max(int(np.floor(below)) - 1, 0)
    return rank, n * m - 1 - rank


_LEAST = 4


def outlying(values: Sequence[float] | Array, *, alpha: float = 0.01) -> Interval | None:
    """Return the distance of the last value from the mean of those before, with limits, if they did not predict it.

    With a probability of 1 − ``alpha`` it lies within mean ± t(n − 1, 1 − alpha/2)·s·√(1 + 1/n); then the result is
    None. ``values`` has shape (n + 1,), finite; with n below ``_LEAST`` there is no prediction.

    Source: Hahn & Meeker 1991, Statistical Intervals, section 4.7.
    """
    series, last = np.asarray(values[:-1], dtype=float), float(values[-1])
    n = len(series)
    if n < _LEAST:
        return None
    off = last - float(series.mean())
    half = critical(2, n - 1, alpha) * float(series.std(ddof=1)) * math.sqrt(1 + 1 / n)
    return Interval(value=off, low=off - half, high=off + half) if abs(off) > half else None
