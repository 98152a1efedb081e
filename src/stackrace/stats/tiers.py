"""From pairs to places: who beats whom, which places remain possible, and the tiers to show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .pairs import Array

__all__ = ["Relation", "beats", "best", "foremost", "rank_sets", "settled_stacks", "tiers", "ties"]

Relation = npt.NDArray[np.bool_]


def beats(estimate: Array, half_width: Array) -> Relation:
    """Return the relation "i beats j": m_ij − H_ij > 0, (…, K, K). NaN and infinite limits never beat anybody."""
    with np.errstate(invalid="ignore"):
        return np.asarray(estimate - half_width > 0)


def ties(estimate: Array, half_width: Array, delta: float) -> Relation:
    """Return the K×K relation "a tie": the limits hold 0, and H ≤ ``delta`` leaves none that matters.

    ``delta`` ≥ 0 in ln units, ln 1.05 for 5 %. Tied stacks differ by at most |m| + H. Symmetric; true on the
    diagonal.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(estimate) <= half_width) & (half_width <= delta))


def foremost(order: Relation, estimate: Array, leader: int) -> int:
    """Return the stack to compare all others with: ``leader``, unless ``order`` has somebody beat it.

    Then the one of those that comes out best against the others. Limits of few launches may say so of a leader by
    the plain means.
    """
    seen: set[int] = set()
    while leader not in seen and order[:, leader].any():
        seen.add(leader)
        leader = best(estimate, np.flatnonzero(order[:, leader]).tolist())
    return leader


def tiers(order: Relation, estimate: Array, leader: int) -> tuple[int, ...]:
    """Return each stack's tier: in the first are all that ``leader`` does not beat.

    Of the others the one that is nearest to the leader by ``estimate`` heads the second tier, with all that it does
    not beat, and so on. So whoever is in a later tier is proved worse than the head of each earlier one. No order
    is claimed among other members of two tiers, or of one.

    ``order`` is what `beats` returns, ``estimate`` K×K.
    """
    behind = np.where(np.isnan(estimate[leader]), np.inf, estimate[leader])
    level = np.zeros(len(order), dtype=np.int64)
    left, head, number = np.ones(len(order), dtype=bool), leader, 0
    while left.any():
        number += 1
        here = left & ~order[head]
        level[here] = number
        left &= ~here
        head = int(np.where(left, behind, np.inf).argmin())
    return tuple(level.tolist())


def rank_sets(order: Relation) -> tuple[tuple[int, int], ...]:
    """Return each stack's possible places: from 1 + #{j that beat i} to K − #{j that i beats}, 1 being the best.

    ``order`` is what `beats` returns. All sets hold at once with the confidence of the limits behind them.

    Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for ranks with applications to mobility across
    neighbourhoods and academic achievement across countries, Review of Economic Studies 91.
    """
    over, under = order.sum(axis=0), order.sum(axis=1)
    return tuple((1 + int(o), len(order) - int(u)) for o, u in zip(over, under, strict=True))


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
