"""Effects of time on the results: drift over the blocks, and carry-over from one turn to the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from .pairs import Array, Counts
from .values import Drift

LEAST_BLOCKS = 5
"""Fewest blocks that give 95 % limits."""


def drift(values: Sequence[float] | Array, *, alpha: float = 0.05) -> Drift | None:
    """Return the Theil–Sen slope over the blocks times their span, with distribution-free limits.

    The slope is the median of all n(n − 1)/2 slopes between two blocks; its limits at 1 − ``alpha`` are the M-th
    smallest and the M-th largest of them, M the largest number with P(I < M) ≤ alpha/2, I the inversions of n
    shuffled values: exact for any distribution of the errors. Up to 29 % of the blocks may be disturbed in any way.

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

    Putting the k-th value among the values before it adds 0 … k − 1 inversions with equal probability.
    """
    weights: Array = np.ones(1)
    for k in range(2, n + 1):
        weights = np.convolve(weights, np.full(k, 1 / k))
    return weights


_SWEEPS = 20
_SEED = 1959


def carry_over(
    values: Sequence[float] | Array,
    owners: Sequence[int],
    turns: Sequence[int],
    groups: Sequence[int],
    *,
    draws: int = 4999,
) -> float | None:
    """Return the p-value of "the residuals do not depend on their group", or None if nothing can be said.

    ``values`` has shape (N,): ln of the response, one for each slice. ``owners`` are their launches (the stacks, if
    a launch has a single slice), ``turns`` the turns in which they were measured, ``groups`` the possible causes of
    carry-over: position within the turn, or predecessor; negative if there is none. All (N,), whole numbers.

    The residuals e are left after the means of owners and of turns are taken out, in alternation, until both means
    are zero. T = Σ_g (Σ e in g)²/n_g. Stacks are shuffled anew in every turn, so without carry-over a group's
    residuals in one turn are as likely to come out with the opposite sign: T is compared with that of ``draws``
    random flips of whole turns, p = (1 + #{T* ≥ T})/(1 + draws). Flipping whole turns keeps the machine's state
    within a turn as it was, which a permutation of single slices would not. The seed is fixed.

    None with fewer than two groups or turns, or without any residual. With U turns p cannot be below 2^(1 − U).
    ValueError: the four differ in length.

    Source: Fisher 1935, The Design of Experiments, section 21 (the randomisation test); Jones & Kenward 2014,
    Design and Analysis of Cross-Over Trials (carry-over).
    """
    if len({len(values), len(owners), len(turns), len(groups)}) > 1:
        raise ValueError("each value has one owner, one turn and one group")
    table = np.asarray(values, dtype=float)
    owner, turn, group = (np.asarray(labels, dtype=np.int64) for labels in (owners, turns, groups))
    kept = group >= 0
    turn_of, group_of = (np.unique(labels[kept], return_inverse=True)[1] for labels in (turn, group))
    if len(table) < 2 or len(set(turn_of)) < 2 or len(set(group_of)) < 2:
        return None
    residuals = _residuals(table, owner, turn)[kept]
    if np.abs(residuals).max() < 1e-12:
        return None
    sums = np.zeros((turn_of.max() + 1, group_of.max() + 1))
    np.add.at(sums, (turn_of, group_of), residuals)
    counts = np.bincount(group_of)
    observed = float((sums.sum(axis=0) ** 2 / counts).sum())
    signs = np.random.default_rng(_SEED).choice((-1.0, 1.0), size=(draws, len(sums)))
    drawn = ((signs @ sums) ** 2 / counts).sum(axis=1)
    return float((1 + (drawn >= observed * (1 - 1e-9)).sum()) / (1 + draws))


def _residuals(values: Array, owner: Counts, turn: Counts) -> Array:
    """Return the residuals of ``values`` after the means of owners and of turns are taken out."""
    places = [np.unique(labels, return_inverse=True)[1] for labels in (owner, turn)]
    left = values - values.mean()
    for _ in range(_SWEEPS):
        for place in places:
            left = left - (np.bincount(place, left) / np.bincount(place))[place]
    return np.asarray(left)
