"""From pairs to places: who beats whom, which places remain possible, and the tiers to show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .pairs import Array

__all__ = [
    "Relation",
    "above",
    "beats",
    "best",
    "closure",
    "rank_sets",
    "settled_stacks",
    "tiers",
    "ties",
    "winners",
]

Relation = npt.NDArray[np.bool_]


def beats(estimate: Array, half_width: Array) -> Relation:
    """Return the K×K relation "i beats j": m_ij − H_ij > 0. NaN and infinite limits never beat anybody."""
    with np.errstate(invalid="ignore"):
        return np.asarray(estimate - half_width > 0)


def ties(estimate: Array, half_width: Array, delta: float) -> Relation:
    """Return the K×K relation "a tie": the limits hold 0, and H ≤ ``delta`` leaves none that matters.

    ``delta`` ≥ 0 in ln units, ln 1.05 for 5 %. Tied stacks differ by at most |m| + H. Symmetric; true on the
    diagonal.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(estimate) <= half_width) & (half_width <= delta))


def above(beating: Relation) -> Relation:
    """Return who is proved better than whom, directly or through others.

    True order is transitive, so a beats b and b beats c prove a over c at the same confidence, even where a
    and c never met. Stacks that (by a rare error) beat one another in a circle are not above each other. The
    result is a strict partial order: irreflexive, antisymmetric, transitive.
    """
    reached = closure(beating)
    return np.asarray(reached & ~reached.T)


def closure(relation: Relation) -> Relation:
    """Return what is related directly or through others, (…, K, K). Source: Warshall 1962, JACM 9."""
    reached = np.array(relation, dtype=bool)
    for middle in range(reached.shape[-1]):
        reached |= reached[..., :, middle, None] & reached[..., None, middle, :]
    return reached


def rank_sets(order: Relation) -> tuple[tuple[int, int], ...]:
    """Return each stack's possible places: from 1 + #{j above i} to K − #{j below i}, 1 being the best.

    ``order`` is what `above` returns. All sets hold at once with the confidence of the limits behind them.

    Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for ranks with applications to mobility across
    neighbourhoods and academic achievement across countries, Review of Economic Studies 91.
    """
    over, under = order.sum(axis=0), order.sum(axis=1)
    return tuple((1 + int(o), len(order) - int(u)) for o, u in zip(over, under, strict=True))


def tiers(order: Relation) -> tuple[int, ...]:
    """Return each stack's tier: 1 + the length of the longest chain of stacks above it.

    So tier 1 holds exactly those whom nobody beats, and whoever is in tier t > 1 is proved slower than at
    least one stack of tier t − 1. No stack of a tier is above another of it: order inside a tier is never
    claimed. A tier does not claim to be below *every* stack of the one before: that is what the rank sets
    tell. (Tiers that did would have to join all stacks that are linked by unresolved neighbours, which mostly
    leaves one single tier.)

    ``order`` is what `above` returns.
    """
    level = np.zeros(len(order), dtype=np.int64)
    left = np.ones(len(order), dtype=bool)
    while left.any():
        free = left & ~order[left].any(axis=0)
        left &= ~free
        level[left] += 1
    return tuple(int(number) + 1 for number in level)


def winners(estimate: Array, half_width: Array, order: Relation, delta: float) -> Relation:
    """Tell of each stack whether it answers "which is the best?": ∃ i with m_ij − H_ij > −δ for every j.

    Such a stack is the best, or less than ``delta`` (ln units) from it. What holds against k holds against
    all that k is above, so that stacks dropped early do not keep the question open. Shape (K,); one stack
    alone wins.
    """
    with np.errstate(invalid="ignore"):
        near = np.asarray(estimate - half_width > -delta)
    np.fill_diagonal(near, True)
    through = (near.astype(np.int64) @ order.astype(np.int64)) > 0
    return np.asarray((near | through | order).all(axis=1))


def settled_stacks(order: Relation, tied: Relation) -> Relation:
    """Tell of each stack whether all its pairs are decided or ties.

    The ranking is settled when all stacks are. Shape (K,).
    """
    return np.asarray((order | order.T | tied | np.eye(len(order), dtype=bool)).all(axis=1))


def best(estimate: Array, among: Sequence[int]) -> int:
    """Return the one of ``among`` whose least favourable estimate against the others is best.

    Where one is ahead of all others by estimate, that is it. Raises ValueError when there is nobody to choose
    from.

    Source: Simpson 1969, Kramer 1977, the minimax rule of voting.
    """
    return max(
        among, key=lambda i: min((float(m) for m in estimate[i, list(among)] if np.isfinite(m)), default=0.0)
    )
