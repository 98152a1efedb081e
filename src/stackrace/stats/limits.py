"""How many standard errors wide a limit is, so that all pairs of a family hold together."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .pairs import Array

__all__ = ["critical"]

_STEP = 0.02
_FAR = 8.0
"""Beyond this many standard deviations nothing of a normal distribution is left."""


def critical(stacks: int, nu: float, alpha: float) -> float:
    """Return c, the upper-``alpha`` quantile of range(Z₁…Z_K)/√2/√(χ²_ν/ν): the studentised range over √2.

    With half-widths c·√(ṽ/n) the limits of all K(K − 1)/2 pairs hold at once with probability 1 − alpha.
    Found by quadrature, not by drawing numbers: ∫P(range > c√2·s) dF(s), the inner probability K∫φ(z)[Φ(z +
    r) − Φ(z)]^(K−1)dz, exact to 0.1 %. For K = 2 it is the two-sided t quantile; one stack alone, a family
    without pairs, gets it too.

    ``stacks`` ≥ 1, ``nu`` > 0 (rounded down to hundredths), 0 < ``alpha`` < 1, ValueError otherwise; c > 0
    has no unit.

    Source: Tukey 1953, The problem of multiple comparisons; Copenhaver & Holland 1988, Journal of Statistical
    Computation and Simulation 30, for the integral.
    """
    if stacks < 1 or not nu > 0 or not 0 < alpha < 1:
        raise ValueError(f"no limits for {stacks} stacks, {nu} degrees of freedom and error rate {alpha}")
    return _solve(max(stacks, 2), max(math.floor(nu * 100), 1) / 100, alpha)


@lru_cache(maxsize=4096)
def _solve(stacks: int, nu: float, alpha: float) -> float:
    """Bisect on a logarithmic scale for the r with P(range > r·s) = alpha."""
    low, high = 1e-3, 1e9
    scales, weights = _scales(nu)
    beyond = _beyond(stacks)
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
    cdf = np.array([math.erf(x / math.sqrt(2)) / 2 for x in np.arange(-_FAR, 3 * _FAR + _STEP, _STEP)])
    stride = 5
    starts = np.arange(0, round(2 * _FAR / _STEP), stride)
    density = np.exp(-((starts * _STEP - _FAR) ** 2) / 2) / math.sqrt(2 * math.pi)
    spans = np.arange(round(2 * _FAR / _STEP) + 1)
    inside = cdf[starts[:, None] + spans] - cdf[starts][:, None]
    within: Array = stacks * stride * _STEP * (density @ inside ** (stacks - 1))
    return np.clip(1.0 - within, 0.0, 1.0)


def _scales(nu: float) -> tuple[Array, Array]:
    """Return points s and probability weights of √(χ²_ν/ν), evenly spaced in ln s."""
    logs = np.linspace(-18.0, 2.5, 2051)
    scales = np.exp(logs)
    density = nu * logs - nu * scales**2 / 2
    weights = np.exp(density - density.max())
    return scales, weights / weights.sum()
