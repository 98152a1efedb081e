"""One load level judged: all pairs, and everything that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.interval import Interval
from ..model.race import Question, Rule
from . import selection
from .allpairs import looks as allpairs
from .family import Family
from .logs import FURTHEST, growth, ratio_of
from .pairs import Array
from .planning import blocks_to_answer
from .tiers import Relation, above, beats, best, closure, rank_sets, settled_stacks, tiers, ties, winners

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """What is known of K stacks, by index."""

    family: Family
    """The limits of all pairs together."""
    each: Family
    """The limits of each pair by itself."""
    order: Relation
    """Who is above whom, by ``family``."""
    tied: Relation
    """Who differs by nothing that matters, by ``family``."""
    winners: tuple[int, ...]
    """The stacks that answer "which is the best?", none while nobody does."""
    surely: bool
    """Whether the leader is proved better than every other."""
    left: tuple[int, ...]
    """The stacks that may still be the best, by the rule."""
    tiers: tuple[int, ...]
    """The tier of each stack; 1 is the best."""
    ranks: tuple[tuple[int, int], ...]
    """The first and the last place that each stack may have."""
    leader: int
    """The stack that the answer speaks of."""
    proved: Relation
    """The relation by which others left the race."""
    behind: float | None = None
    """By how much the leader is behind the best at most, 0.07 for 7 %; None while that is unknown."""
    blocks_needed: int | None = None
    """How many blocks an answer is likely to take; None where 40 are too few."""

    @property
    def settled(self) -> tuple[bool, ...]:
        """For each stack, whether all its pairs are decided or ties."""
        return tuple(bool(decided) for decided in settled_stacks(self.order, self.tied))

    @property
    def beaten(self) -> tuple[bool, ...]:
        """For each stack, whether another one is above it."""
        return tuple(bool(over) for over in self.order.sum(axis=0))

    @property
    def resolution(self) -> float | None:
        """The smallest difference from the leader that would have shown, 0.04 for 4 %, or None."""
        halves: list[float] = self.each.half_width[self.leader].tolist()
        half = min(halves[: self.leader] + halves[self.leader + 1 :], default=math.inf)
        return growth(half)

    def better(self, first: int, second: int) -> bool:
        """Tell whether ``first`` is proved better than ``second``, by its tier or on the way to the winner."""
        return bool(self.order[first, second] or self.proved[first, second])

    def ratio(self, first: int, second: int) -> Interval:
        """Return exp(m ± H) of first ÷ second, limits of this pair by itself; NaN where they share no block."""
        m, half = float(self.each.estimate[first, second]), float(self.each.half_width[first, second])
        return ratio_of(m, math.nan if math.isnan(m) else half)

    def apart(self, first: int, second: int) -> float:
        """Return by how much two stacks differ at most, exp(|m| + H) − 1, all pairs together."""
        m, half = float(self.family.estimate[first, second]), float(self.family.half_width[first, second])
        return math.expm1(min(abs(m) + half, FURTHEST))

    def foremost(self, among: Sequence[int]) -> int:
        """Return the one of ``among`` that comes out best against the others; see `best`."""
        return best(self.family.estimate, among)


def judge(
    values: Sequence[Sequence[float]] | Array,
    difference: float,
    *,
    rule: Rule = Rule.SELECTION,
    question: Question = Question.WINNER,
    drops: bool = True,
    least: int = 2,
) -> Judgement:
    """Return what all looks up to now say about K stacks, by the ``rule`` of their race.

    ``values`` has shape (K, B), K ≥ 1: ln of the response by stack and block in order of time, NaN where there is
    none. ``difference`` ≥ 0 is the ratio that does not matter, 0.05 for 5 %: δ = ln(1 + difference). For a
    ranking, or without ``drops``, all stacks stay in. By the rule of all pairs, those with fewer than ``least``
    common blocks decide nothing.

    Source: see `selection.looks`, `allpairs.followed` and the functions of `tiers`, which this joins.
    """
    array, delta = np.asarray(values, dtype=float), math.log1p(difference)
    if rule is Rule.ALL_PAIRS:
        return _by_all_pairs(array, delta, least)
    selected = selection.selected(array, delta, drops=drops and question is Question.WINNER)
    return _by_selection(selected, delta, question)


def _by_selection(selected: selection.Selection, delta: float, question: Question) -> Judgement:
    order = above(beats(selected.order.estimate, selected.order.half_width))
    leader, winner = int(selected.leader), int(selected.winner)
    behind = growth(float(selected.behind()))
    return Judgement(
        family=selected.order,
        each=selected.each,
        order=order,
        tied=ties(selected.order.estimate, selected.order.half_width, delta),
        winners=(winner,) if winner >= 0 else (),
        surely=bool(selected.surely_best()),
        left=tuple(int(i) for i in np.flatnonzero(selected.left)),
        tiers=tiers(order),
        ranks=rank_sets(order),
        leader=leader,
        proved=closure(selected.proved),
        behind=behind,
        blocks_needed=blocks_to_answer(selected, delta, question),
    )


def _by_all_pairs(array: Array, delta: float, least: int) -> Judgement:
    family = allpairs.followed(array)
    half_width = family.half_width.copy()
    half_width[(family.blocks < least) & (half_width > 0)] = math.inf
    decided = replace(family, half_width=half_width)
    order = above(beats(family.estimate, half_width))
    number = tiers(order)
    good = winners(family.estimate, half_width, order, delta)
    leader = best(family.estimate, [i for i, tier in enumerate(number) if tier == 1])
    return Judgement(
        family=family,
        each=family,
        order=order,
        tied=ties(decided.estimate, half_width, delta),
        winners=tuple(i for i, wins in enumerate(good) if wins),
        surely=bool(order[leader].sum() == len(array) - 1),
        left=tuple(i for i, over in enumerate(order.sum(axis=0)) if not over),
        tiers=number,
        ranks=rank_sets(order),
        leader=leader,
        proved=order,
    )
