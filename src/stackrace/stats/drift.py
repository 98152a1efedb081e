"""How much a series of blocks drifted from its first to its last, whatever single blocks were hit by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .pairs import Array

__all__ = ["LEAST_BLOCKS", "Drift", "drift"]

LEAST_BLOCKS = 5
"""With fewer there are no 95 % limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The change from the first block to the last, in ln units."""

    value: float
    low: float
    """The lower limit."""
    high: float
    """The upper limit."""


def drift(values: Sequence[float] | Array, *, alpha: float = 0.05) -> Drift | None:
    """Return the Theil–Sen slope over the blocks times their span, with distribution-free limits.

    The slope is the median of all n(n − 1)/2 slopes between two blocks; its limits at 1 − ``alpha`` are the M-th
    smallest and the M-th largest of them, M the largest number with P(I < M) ≤ alpha/2, I the inversions of n
    shuffled values: exact for any distribution of the errors. Up to 29 % of the blocks may be hit by anything.

    ``values`` has shape (B,): ln of the response by block in order of time, NaN where there is none. None with
    fewer than ``LEAST_BLOCKS`` values, or too few for such an ``alpha``.

    Source: Sen 1968, Estimates of the regression coefficient based on Kendall's tau, JASA 63; Hollander & Wolfe
    1999, Nonparametric Statistical Methods, section 9.3.
    """
    series = np.asarray(values, dtype=float)
    at = np.flatnonzero(np.isfinite(series))
    n = len(at)
    if n < LEAST_BLOCKS:
        return None
    first, second = np.triu_indices(n, 1)
    slopes = np.sort((series[at[second]] - series[at[first]]) / (at[second] - at[first]))
    rank = int((np.cumsum(_inversions(n)) <= alpha / 2).sum())
    if rank < 1:
        return None
    span = float(at[-1] - at[0])
    return Drift(
        value=float(np.median(slopes)) * span,
        low=float(slopes[rank - 1]) * span,
        high=float(slopes[-rank]) * span,
    )


@cache
def _inversions(n: int) -> Array:
    """Return the probabilities that n shuffled values have 0, 1, … n(n − 1)/2 inversions.

    The k-th value, put among those before it, makes 0 … k − 1 more of them with equal probability.
    """
    weights: Array = np.ones(1)
    for k in range(2, n + 1):
        weights = np.convolve(weights, np.full(k, 1 / k))
    return weights
