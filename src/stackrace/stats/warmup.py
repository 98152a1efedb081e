"""Detection of the moment when a warming-up stack has become steady."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .pairs import Array, Counts

_LEAST_BINS = 4
"""Fewest bins of a stretch."""

_HIT = 4.0
"""Distance in σ̂ from the median of the five bins around it from which a bin counts as disturbed; such a bin is
pulled in to this distance."""

_LEAST_NOISE = 1e-3
"""Least σ̂: a change of a tenth of a per cent does not count, however quiet the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """Last stretch of a series of rates without a change."""

    steady: bool
    since_s: float
    """Start of the stretch in seconds, counted from the first bin."""
    length_s: float
    """Length of the stretch in seconds."""
    drift: float | None
    """Remaining change of rate per second, 0.01 for 1 % per second; None with fewer than two bins."""


def steadiness(
    rates: Sequence[float] | Array, bin_s: float, *, least_s: float = 3.0, drift: float = 0.01
) -> Steadiness:
    """Return the last stretch of a series of rates, and whether it is steady.

    Steady: after the last change point of ln X at least ``least_s`` seconds passed, and the Theil–Sen slope
    over them (the median of (x_j − x_i)/(t_j − t_i) over all i < j) is below ``drift`` per second in
    magnitude.

    ``rates`` holds answers per second in any number of bins of ``bin_s`` seconds (0.25 is usual); a bin without an
    answer counts as half an answer, bins with NaN or an infinite rate are left out. Raise ValueError on
    ``bin_s`` ≤ 0.

    Source: Barrett, Bolz-Tereick, Killick, Mount & Tratt 2017, Virtual machine warmup blows hot and cold; Sen
    1968, Estimates of the regression coefficient based on Kendall's tau, JASA 63.
    """
    if not bin_s > 0:
        raise ValueError(f"bins of {bin_s} s hold nothing")
    raw = np.asarray(rates, dtype=np.float64)
    kept = np.flatnonzero(np.isfinite(raw))
    logs: Array = np.log(np.maximum(raw[kept], 0.5 / bin_s))
    start = (_change_points(logs) or (0,))[-1]
    times: Array = kept[start:].astype(np.float64) * bin_s
    length = len(times) * bin_s
    slope = _slope(times, logs[start:])
    steady = slope is not None and length >= least_s * (1 - 1e-9) and abs(slope) < drift
    since = float(times[0]) if len(times) else 0.0
    return Steadiness(steady=steady, since_s=since, length_s=length, drift=slope)


def _change_points(series: Array) -> tuple[int, ...]:
    """Return the indices at which a new stretch of ``series`` begins, in order; none without a change.

    Minimises the sum over stretches of squared deviations from their means, plus 3σ̂² ln n for each change,
    where σ̂ = 1.4826·MAD(differences)/√2. Single disturbed bins are pulled in before. This is the optimum that
    PELT finds; a warm-up has so few bins that the plain recursion, O(n²), needs none of its pruning. Stretches
    have at least four bins.

    ``series`` has shape (n,), n ≥ 0, no NaN, ln units.

    Source: Killick, Fearnhead & Eckley 2012, Optimal detection of changepoints with a linear computational
    cost, JASA 107; Jackson et al. 2005, An algorithm for optimal partitioning of data on an interval.
    """
    n = len(series)
    if n < 2 * _LEAST_BINS:
        return ()
    sigma = _noise(series)
    penalty = 3 * sigma**2 * np.log(n)
    centred = _without_hits(series, sigma) - np.median(series)
    sums, squares = (np.concatenate(([0.0], np.cumsum(x))) for x in (centred, centred**2))
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    before = np.zeros(n + 1, dtype=np.int64)
    for end in range(_LEAST_BINS, n + 1):
        starts = np.arange(end - _LEAST_BINS + 1)
        spread = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        costs = best[starts] + spread + penalty
        before[end] = np.argmin(costs)
        best[end] = costs[before[end]]
    return _walk_back(before)


def _walk_back(before: Counts) -> tuple[int, ...]:
    points = []
    at = int(before[-1])
    while at > 0:
        points.append(at)
        at = int(before[at])
    return tuple(reversed(points))


def _noise(series: Array) -> float:
    """Return σ̂ of one bin, computed from differences so that a change of level does not count."""
    steps = np.diff(series)
    return max(float(1.4826 * np.median(np.abs(steps - np.median(steps))) / np.sqrt(2)), _LEAST_NOISE)


def _without_hits(series: Array, sigma: float) -> Array:
    around = np.lib.stride_tricks.sliding_window_view(np.pad(series, 2, mode="reflect"), 5)
    middle = np.median(around, axis=1)
    return np.clip(series, middle - _HIT * sigma, middle + _HIT * sigma)


def _slope(times: Array, values: Array) -> float | None:
    if len(times) < 2:
        return None
    i, j = np.triu_indices(len(times), 1)
    return float(np.median((values[j] - values[i]) / (times[j] - times[i])))
