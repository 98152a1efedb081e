"""Does it matter when a stack had its turn, or after whom? A randomisation test on what the stacks leave over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .pairs import Array, Counts

__all__ = ["carry_over"]

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
    """Return the p-value of "the residuals do not depend on their group", or None where nothing can be said.

    ``values`` has shape (N,): ln of the response, one for each slice. ``owners`` says whose it is (the launch, or
    the stack where a launch has a single slice), ``turns`` in which turn it was measured, ``groups`` what might
    carry over: the position within the turn, or the predecessor; negative where there is none. All (N,), whole
    numbers.

    The residuals e are what is left after the means of owners and of turns are taken out, by turns, until both are
    zero. T = Σ_g (Σ e in g)²/n_g. Stacks are shuffled anew in every turn, so without carry-over a group's residuals
    in one turn are as likely to come out with the opposite sign: T is compared with that of ``draws`` random
    flips of whole turns, p = (1 + #{T* ≥ T})/(1 + draws). Flipping whole turns leaves the machine's weather within
    a turn as it was, which a permutation of single slices would not. The seed is fixed.

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
    """Return what is left of ``values`` when the means of owners and of turns are both zero."""
    places = [np.unique(labels, return_inverse=True)[1] for labels in (owner, turn)]
    left = values - values.mean()
    for _ in range(_SWEEPS):
        for place in places:
            left = left - (np.bincount(place, left) / np.bincount(place))[place]
    return np.asarray(left)
