"""One load level judged: all pairs, and everything that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..model.standing import Interval
from .logs import FURTHEST, growth, ratio_of
from .looks import Family, followed
from .pairs import Array
from .tiers import Relation, above, beats, best, rank_sets, settled_stacks, tiers, ties, winners

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """What is known of K stacks, by index.

    ``order`` is who is above whom, ``tied`` who differs by nothing that matters. ``winners`` are the stacks
    that answer "which is the best?", none while nobody does. ``leader`` is the stack of tier 1 that comes out
    best against the rest of it.
    """

    family: Family
    order: Relation
    tied: Relation
    winners: tuple[int, ...]
    tiers: tuple[int, ...]
    ranks: tuple[tuple[int, int], ...]
    leader: int

    @property
    def settled(self) -> tuple[bool, ...]:
        """Of each stack, whether all its pairs are decided or ties."""
        return tuple(bool(one) for one in settled_stacks(self.order, self.tied))

    @property
    def beaten(self) -> tuple[bool, ...]:
        """Of each stack, whether another is above it."""
        return tuple(bool(over) for over in self.order.sum(axis=0))

    @property
    def resolution(self) -> float | None:
        """The smallest difference from the leader that would have shown, 0.04 for 4 %, or None."""
        halves: list[float] = self.family.half_width[self.leader].tolist()
        half = min(halves[: self.leader] + halves[self.leader + 1 :], default=math.inf)
        return growth(half)

    def ratio(self, one: int, other: int) -> Interval:
        """Return exp(m ± H) of one ÷ other; NaN where they share no block, no limits below two."""
        m, half = float(self.family.estimate[one, other]), float(self.family.half_width[one, other])
        return ratio_of(m, math.nan if math.isnan(m) else half)

    def apart(self, one: int, other: int) -> float:
        """Return by how much two stacks differ at most, exp(|m| + H) − 1."""
        m, half = float(self.family.estimate[one, other]), float(self.family.half_width[one, other])
        return math.expm1(min(abs(m) + half, FURTHEST))

    def foremost(self, among: Sequence[int]) -> int:
        """Return the one of ``among`` that comes out best against the others; see `best`."""
        return best(self.family.estimate, among)


def judge(values: Sequence[Sequence[float]] | Array, difference: float, *, least: int = 2) -> Judgement:
    """Return what all looks up to now say about K stacks.

    ``values`` has shape (K, B), K ≥ 1: ln of the response by stack and block in order of time, NaN where
    there is none. ``difference`` ≥ 0 is the ratio that does not matter, 0.05 for 5 %: δ = ln(1 + difference).
    Pairs with fewer than ``least`` common blocks decide nothing.

    Source: see `followed` and the functions of `tiers`, which this joins.
    """
    family, delta = followed(values), math.log1p(difference)
    estimate, half_width = family.estimate, family.half_width.copy()
    half_width[(family.blocks < least) & (half_width > 0)] = math.inf
    order = above(beats(estimate, half_width))
    number = tiers(order)
    good = winners(estimate, half_width, order, delta)
    return Judgement(
        family=family,
        order=order,
        tied=ties(estimate, half_width, delta),
        winners=tuple(i for i, wins in enumerate(good) if wins),
        tiers=number,
        ranks=rank_sets(order),
        leader=best(estimate, [i for i, tier in enumerate(number) if tier == 1]),
    )
