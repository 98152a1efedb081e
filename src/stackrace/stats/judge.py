"""One load level judged: all pairs, and everything that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.numbers import Interval
from .logs import exp, growth
from .pairs import Array, Family
from .planning import blocks_to_answer
from .selection import selected
from .tiers import Relation, beats, foremost, rank_sets, settled_stacks, tiers, ties
from .values.question import Question

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """What is known of K stacks, by index. All of it follows from the limits that `ratio` gives."""

    family: Family
    """All pairs, with limits that hold for all of them together."""
    order: Relation
    """Who is above whom by ``family``: the limits exclude 1."""
    tied: Relation
    """Who differs by nothing that matters, by ``family``."""
    winner: int | None
    """The stack that a planned look has named, None while none has."""
    left: tuple[int, ...]
    """The stacks that may still be the best, by the rule."""
    tiers: tuple[int, ...]
    """The tier of each stack; 1 is the best."""
    ranks: tuple[tuple[int, int], ...]
    """The first and the last place that each stack may have."""
    leader: int
    """The stack that the answer speaks of: no limits say that another one is better."""
    ahead: Array
    """(K,): by how much each stack may be better than the leader at most, ln units; less than 0 for one that is
    proved worse, infinite where nothing is known."""
    blocks_needed: int | None = None
    """How many blocks an answer is likely to take; None where 40 are too few."""

    @property
    def settled(self) -> tuple[bool, ...]:
        """For each stack, whether all its pairs are decided or ties."""
        return tuple(bool(decided) for decided in settled_stacks(self.order, self.tied))

    @property
    def surely(self) -> bool:
        """Whether the leader is proved better than every other."""
        return self.tiers.count(1) == 1

    @property
    def behind(self) -> float | None:
        """By how much the leader is behind the best at most, 0.07 for 7 %; None while that is unknown."""
        return growth(max(float(self.ahead.max()), 0.0))

    @property
    def resolution(self) -> float | None:
        """The smallest difference from the leader that would have shown, 0.04 for 4 %, or None."""
        halves = np.delete(self.family.half_width[self.leader], self.leader)
        return growth(float(halves.min(initial=math.inf)))

    def ratio(self, first: int, second: int) -> Interval:
        """Return exp(m ± H) of first ÷ second, NaN where they share no block.

        How much better than the leader a stack may be is known more narrowly: see `judge`.
        """
        m, half = float(self.family.estimate[first, second]), float(self.family.half_width[first, second])
        if math.isnan(m) or math.isinf(half):
            return Interval(value=math.exp(m))
        low, high = m - half, m + half
        if second == self.leader:
            high = float(self.ahead[first])
        elif first == self.leader:
            low = -float(self.ahead[second])
        return Interval(value=math.exp(m), low=exp(low), high=exp(high))

    def apart(self, first: int, second: int) -> float:
        """Return by how much two stacks differ at most, by the limits of their ratio; infinite without any."""
        ratio = self.ratio(first, second)
        return math.inf if ratio.low is None or ratio.high is None else max(1 / ratio.low, ratio.high) - 1


def judge(
    values: Sequence[Sequence[float]] | Array,
    difference: float,
    *,
    question: Question = Question.WINNER,
    drops: bool = True,
) -> Judgement:
    """Return what all looks up to now say about K stacks.

    ``values`` has shape (K, B), K ≥ 1: ln of the response by stack and block in order of time, NaN where there is
    none. ``difference`` ≥ 0 is the ratio that does not matter, 0.05 for 5 %: δ = ln(1 + difference). For a
    ranking, or without ``drops``, all stacks stay in.

    Everything follows from one family of limits, d_ij ± H_ij (`Selection.limits`). One thing is known more
    narrowly: a stack that is not proved worse than the leader is better by (H_lj − d_lj)₊ at most, with the H of
    the rule for a winner (`Selection.ahead`), which promises no more than that.

    Source: see `selection.looks`, `limits.critical` and the functions of `tiers`, which this joins.
    """
    array, delta = np.asarray(values, dtype=float), math.log1p(difference)
    ranking = question is Question.RANKING
    state = selected(array, delta, drops=drops and not ranking)
    family = state.limits(ranking=ranking)
    order = beats(family.estimate, family.half_width)
    leader = foremost(order, family.estimate, int(state.leader))
    winner = int(state.winner)
    return Judgement(
        family=family,
        order=order,
        tied=ties(family.estimate, family.half_width, delta),
        winner=winner if winner >= 0 else None,
        left=tuple(int(i) for i in np.flatnonzero(state.left)),
        tiers=tiers(order, family.estimate, leader),
        ranks=rank_sets(order),
        leader=leader,
        ahead=_ahead(family, state.ahead(leader), leader),
        blocks_needed=blocks_to_answer(state, delta, question),
    )


def _ahead(family: Family, by_rule: Array, leader: int) -> Array:
    """Return the upper limits against the leader: see `judge`."""
    with np.errstate(invalid="ignore"):
        upper = family.estimate[:, leader] + family.half_width[:, leader]
    upper = np.where(np.isnan(upper), np.inf, upper)
    return np.where(upper < 0, upper, np.minimum(upper, by_rule))
