"""Widths in standard errors of limits that hold for a whole family, and the way back from logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..base.numbers import Interval
from .pairs import Array, Counts

Quantile = Callable[[int, float, float], float]
"""Quantile of a family of limits by number of stacks, degrees of freedom and error rate, such as `critical`."""

FURTHEST = 700.0
"""Largest x for which e^x is computed, before it overflows; limits of a few noisy launches may get there."""


def exp(log: float) -> float:
    """Return e^``log``, with ``log`` kept within ± ``FURTHEST``."""
    return math.exp(max(-FURTHEST, min(log, FURTHEST)))


def ratio_of(log: float, half: float) -> Interval:
    """Return exp(``log`` ± ``half``); without limits if ``half`` is infinite or NaN, as with a single block."""
    if not math.isfinite(half):
        return Interval(value=math.exp(log))
    return Interval(value=math.exp(log), low=exp(log - half), high=exp(log + half))


def growth(half: float) -> float | None:
    """Return exp(``half``) − 1, 0.04 for 4 %; None if ``half`` is ``FURTHEST`` or more."""
    return math.expm1(half) if half < FURTHEST else None


_STEP = 0.02
_STRIDE = 5
_COARSE = 0.02
_FAR = 8.0
"""Number of standard deviations beyond which nothing of a normal distribution is left."""


def critical(stacks: int, nu: float, alpha: float) -> float:
    """Return c, the upper-``alpha`` quantile of range(Z₁…Z_K)/√2/√(χ²_ν/ν): the studentised range over √2.

    With half-widths c·√(ṽ/n) the limits of all K(K − 1)/2 pairs hold at once with probability 1 − alpha.
    Computed by quadrature, not by drawing numbers: ∫P(range > c√2·s) dF(s), the inner probability K∫φ(z)[Φ(z +
    r) − Φ(z)]^(K−1)dz, exact to 0.1 %. For K = 2 it is the two-sided t quantile; one stack alone, a family
    without pairs, has the same.

    ``stacks`` ≥ 1, ``nu`` > 0 (rounded down to hundredths), 0 < ``alpha`` < 1, ValueError otherwise; c > 0
    has no unit.

    Source: Tukey 1953, The problem of multiple comparisons; Copenhaver & Holland 1988, Journal of Statistical
    Computation and Simulation 30, for the integral.
    """
    return _solve(_beyond, *_checked(stacks, nu, alpha))


def against_best(stacks: int, nu: float, alpha: float) -> float:
    """Return D, the upper-``alpha`` quantile of max(Z₁ − Z_K, …, Z_(K−1) − Z_K)/√2/√(χ²_ν/ν): one-sided Dunnett.

    With half-widths D·√(S²/n) the lower limits of the best stack's lead over all K − 1 others hold at once with
    probability 1 − alpha, whichever stack is the best: D solves ∫∫φ(z)·Φ(z + √2·D·s)^(K−1) dz dF_ν(s) = 1 − alpha.
    For K = 2 it is the one-sided t quantile; one stack alone has the same.

    Arguments, range, errors and exactness as for `critical`.

    Source: Dunnett 1955, A multiple comparison procedure for comparing several treatments with a control, JASA 50;
    Hsu 1981, Simultaneous confidence intervals for all distances from the best, Annals of Statistics 9.
    """
    return _solve(_beyond_one, *_checked(stacks, nu, alpha))


def each(quantile: Quantile, stacks: int | Counts, nu: Array, alpha: float | Array) -> Array:
    """Return ``quantile(stacks, ν, alpha)`` for every ν of ``nu``, NaN if ν is not above 0; the same shape.

    ``stacks`` and ``alpha`` may be arrays that broadcast to that shape. Each ν is rounded down by 2 % at most,
    since each takes a quadrature, and pairs are many.
    """
    known = nu > 0
    steps = np.floor(np.log(nu[known]) / _COARSE)
    stacks, alpha = (np.broadcast_to(each, nu.shape)[known] for each in (stacks, alpha))
    width = np.full(nu.shape, np.nan)
    if len(steps):
        asked, places = np.unique(np.stack([stacks, steps, alpha]), axis=1, return_inverse=True)
        found = [quantile(int(k), math.exp(step * _COARSE), float(level)) for k, step, level in asked.T]
        width[known] = np.array(found)[places.ravel()]
    return width


def _checked(stacks: int, nu: float, alpha: float) -> tuple[int, float, float]:
    if stacks < 1 or not nu > 0 or not 0 < alpha < 1:
        raise ValueError(f"no limits for {stacks} stacks, {nu} degrees of freedom and error rate {alpha}")
    return max(stacks, 2), max(math.floor(nu * 100), 1) / 100, alpha


@lru_cache(maxsize=16384)
def _solve(tail: Callable[[int], Array], stacks: int, nu: float, alpha: float) -> float:
    """Return r with P(statistic > r·s) = alpha, by bisection on a logarithmic scale; ``tail`` gives P by r."""
    low, high = 1e-3, 1e9
    scales, weights = _scales(nu)
    beyond = tail(stacks)
    grid = np.arange(len(beyond)) * _STEP
    while high / low > 1.00001:
        middle = math.sqrt(low * high)
        if weights @ np.interp(middle * scales, grid, beyond, right=0.0) > alpha:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high / 2)


@lru_cache(maxsize=256)
def _beyond(stacks: int) -> Array:
    """Return P(range > r) of ``stacks`` standard normals for r = 0, 0.02, … 16."""
    cdf, starts, spans, density = _grid()
    inside = cdf[starts[:, None] + spans] - cdf[starts][:, None]
    within: Array = stacks * _STRIDE * _STEP * (density @ inside ** (stacks - 1))
    return np.clip(1.0 - within, 0.0, 1.0)


@lru_cache(maxsize=256)
def _beyond_one(stacks: int) -> Array:
    """Return P(max(Z₁, …, Z_(K−1)) − Z_K > r) for r = 0, 0.02, … 16."""
    cdf, starts, spans, density = _grid()
    within: Array = _STRIDE * _STEP * (density @ (cdf + 0.5)[starts[:, None] + spans] ** (stacks - 1))
    return np.clip(1.0 - within, 0.0, 1.0)


def _grid() -> tuple[Array, Counts, Counts, Array]:
    """Return Φ − ½ from −8 on, the indices of the z to integrate over, their offsets to z + r, and φ(z)."""
    cdf = np.array([math.erf(x / math.sqrt(2)) / 2 for x in np.arange(-_FAR, 3 * _FAR + _STEP, _STEP)])
    starts = np.arange(0, round(2 * _FAR / _STEP), _STRIDE)
    density = np.exp(-((starts * _STEP - _FAR) ** 2) / 2) / math.sqrt(2 * math.pi)
    return cdf, starts, np.arange(round(2 * _FAR / _STEP) + 1), density


def _scales(nu: float) -> tuple[Array, Array]:
    """Return points s and probability weights of √(χ²_ν/ν), evenly spaced in ln s."""
    logs = np.linspace(-18.0, 2.5, 2051)
    scales = np.exp(logs)
    density = nu * logs - nu * scales**2 / 2
    weights = np.exp(density - density.max())
    return scales, weights / weights.sum()
