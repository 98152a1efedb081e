"""Judgement of one load level: all pairs, proven order, possible ranks, and tiers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.numbers import Interval
from .limits import against_best, critical, exp, growth
from .pairs import Array, Family, Flags
from .selection import ALPHA, LIMITS_ALPHA, LOOKS, WINNER_FROM, Selection, selected
from .values import Question
from .variances import MOST_PRIOR

_SD = 0.05
"""Standard deviation of one launch's ln(throughput) within its block on a usual machine, until its pilot measures
it."""

_LEAD = 0.07
"""Lead of the best stack of a usual race over the next stack: 7 to 12 % in default races."""


def blocks_expected(stacks: int, sd: float = _SD, difference: float = 0.05, lead: float = _LEAD) -> int | None:
    """Return the first look at which a race of equally noisy stacks is likely to name its winner, None if none is.

    That is the first n with D·√(2sd²/n) < ln(1 + ``difference``) + ln(1 + ``lead``), D as in `limits.against_best`
    on the degrees of freedom that ``stacks`` ≥ 2 have by then. If stacks are ``lead`` apart from one another, about
    half of such races are over by then, and fewer if many are close behind the best. ``sd`` ≥ 0, in ln units.
    Raise ValueError outside of these ranges.

    Source: Kalibera & Jones 2013, Rigorous benchmarking in reasonable time, section 6.
    """
    if stacks < 2 or not 0 <= sd < math.inf or not difference >= 0 or not lead >= 0:
        raise ValueError(f"no plan for {stacks} stacks, sd {sd}, a difference of {difference} and a lead of {lead}")
    reach = math.log1p(difference) + math.log1p(lead)
    return next((n for n in LOOKS if n >= WINNER_FROM and _expected(stacks, sd, n) < reach), None)


def _expected(stacks: int, sd: float, blocks: int) -> float:
    own = (blocks - 1) * (stacks - 1) / stacks
    nu = min(2 * (own + min(stacks - 1, MOST_PRIOR)), stacks * own)
    return against_best(stacks, nu, ALPHA) * math.sqrt(2 * sd**2 / blocks)


def _blocks_to_answer(state: Selection, delta: float, question: Question) -> int | None:
    """Return the next look likely to answer ``question``; None if 40 blocks are too few or nothing is known.

    Estimates and variances are assumed to stay as they are, while n and the degrees of freedom grow: a winner needs
    d_lj − H_lj > −δ for the leader l and all j still in, a ranking every pair apart or within δ. About half of such
    races have their answer by then. One race at a time: arrays (K, K).

    Source: as `blocks_expected`.
    """
    k = state.left.shape[-1]
    if state.blocks < LOOKS[0] or k < 2:
        return None
    variance, nu = state.variances.of_pairs()
    i, j = np.triu_indices(k, 1)
    if question is Question.WINNER:
        rivals = [rival for rival in np.flatnonzero(state.left) if rival != state.leader]
        i, j = np.full(len(rivals), int(state.leader)), np.array(rivals, dtype=np.int64)
    ahead, blocks = state.pairs.estimate[i, j], state.pairs.blocks[i, j]
    if not np.isfinite(ahead).all() or (blocks < LOOKS[0]).any() or not (nu[i, j] > 0).all():
        return None

    def half(n: int, quantile: Callable[[int, float, float], float], alpha: float) -> np.ndarray:
        more = nu[i, j] * (n - 1) / (state.blocks - 1)
        width = np.array([quantile(k, float(df), alpha) for df in np.round(more, 1) + 0.1])
        return np.asarray(width * np.sqrt(variance[i, j] / n))

    for n in (n for n in LOOKS if n > state.blocks and n >= WINNER_FROM):
        if question is Question.WINNER and (np.maximum(ahead, 0.0) - half(n, against_best, ALPHA) > -delta).all():
            return n
        if question is Question.RANKING:
            width = half(n, critical, LIMITS_ALPHA)
            if ((np.abs(ahead) > width) | (width <= delta)).all():
                return n
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgement:
    """Result for K stacks, by index. All of it follows from the limits that `ratio` gives."""

    family: Family
    """All pairs, with limits that hold for all of them together."""
    order: Flags
    """Relation "is better than" by ``family``: the limits exclude 1."""
    tied: Flags
    """Relation "differs by nothing that matters", by ``family``."""
    winner: int | None
    """Stack that a planned look has named as the winner; None if none has."""
    left: tuple[int, ...]
    """Stacks that may still be the best, by the rule."""
    tiers: tuple[int, ...]
    """Tier of each stack; 1 is the best."""
    ranks: tuple[tuple[int, int], ...]
    """First and last rank that each stack may have."""
    leader: int
    """Stack that the answer names: no limits show that another stack is better."""
    ahead: Array
    """(K,): upper limit of each stack's lead over the leader, in ln units; negative for a stack that is proved
    worse, infinite if nothing is known."""
    blocks_needed: int | None = None
    """Number of blocks that an answer is likely to take; None if 40 are too few."""

    @property
    def settled(self) -> tuple[bool, ...]:
        """True for each stack whose pairs are all decided or ties."""
        return tuple(bool(decided) for decided in _settled_stacks(self.order, self.tied))

    @property
    def surely(self) -> bool:
        """True if the leader is proved better than every other stack."""
        return self.tiers.count(1) == 1

    @property
    def behind(self) -> float | None:
        """Upper limit of the leader's gap to the best stack, 0.07 for 7 %; None if unknown."""
        return growth(max(float(self.ahead.max()), 0.0))

    @property
    def resolution(self) -> float | None:
        """Smallest difference from the leader that would have shown, 0.04 for 4 %; None if unknown."""
        halves = np.delete(self.family.half_width[self.leader], self.leader)
        return growth(float(halves.min(initial=math.inf)))

    def ratio(self, first: int, second: int) -> Interval:
        """Return exp(m ± H) of first ÷ second, NaN if they share no block.

        The lead of a stack over the leader has narrower limits: see `judge`.
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

    def difference(self, first: int, second: int) -> float:
        """Return the largest difference of two stacks by the limits of their ratio; infinite without limits."""
        ratio = self.ratio(first, second)
        return math.inf if ratio.low is None or ratio.high is None else max(1 / ratio.low, ratio.high) - 1


def judge(
    values: Sequence[Sequence[float]] | Array,
    difference: float,
    *,
    question: Question = Question.WINNER,
    drops: bool = True,
) -> Judgement:
    """Return the result of all looks up to now for K stacks.

    ``values`` has shape (K, B), K ≥ 1: ln of the response by stack and block in order of time, NaN if there is
    none. ``difference`` ≥ 0 is the ratio that does not matter, 0.05 for 5 %: δ = ln(1 + difference). For a ranking,
    or without ``drops``, all stacks stay in.

    Everything follows from one family of limits, d_ij ± H_ij (`selection.Selection.limits`). One limit is narrower:
    a stack that is not proved worse than the leader is better by (H_lj − d_lj)₊ at most, with the H of the rule for
    a winner (`selection.Selection.ahead`), which promises no more than this bound.

    Source: see `selection.looks`, `limits.critical` and the functions below, which this joins.
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
        ranks=_rank_sets(order),
        leader=leader,
        ahead=_ahead(family, state.ahead(leader), leader),
        blocks_needed=_blocks_to_answer(state, delta, question),
    )


def _ahead(family: Family, by_rule: Array, leader: int) -> Array:
    """Return the upper limits of each stack's lead over the leader: see `judge`."""
    with np.errstate(invalid="ignore"):
        upper = family.estimate[:, leader] + family.half_width[:, leader]
    upper = np.where(np.isnan(upper), np.inf, upper)
    return np.where(upper < 0, upper, np.minimum(upper, by_rule))


def beats(estimate: Array, half_width: Array) -> Flags:
    """Return the relation "i beats j": m_ij − H_ij > 0, (…, K, K); False for NaN and infinite limits."""
    with np.errstate(invalid="ignore"):
        return np.asarray(estimate - half_width > 0)


def ties(estimate: Array, half_width: Array, delta: float) -> Flags:
    """Return the K×K relation "a tie": the limits contain 0, and H ≤ ``delta`` rules out a difference that matters.

    ``delta`` ≥ 0 in ln units, ln 1.05 for 5 %. Tied stacks differ by at most |m| + H. Symmetric; true on the
    diagonal.
    """
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(estimate) <= half_width) & (half_width <= delta))


def foremost(order: Flags, estimate: Array, leader: int) -> int:
    """Return the stack to compare all others with: ``leader``, unless ``order`` has a stack that beats it.

    If several stacks beat the leader, the `best` of them takes its place, and so on. Limits from few launches may
    show such a stack although ``leader`` has the largest plain mean.
    """
    seen: set[int] = set()
    while leader not in seen and order[:, leader].any():
        seen.add(leader)
        leader = best(estimate, np.flatnonzero(order[:, leader]).tolist())
    return leader


def tiers(order: Flags, estimate: Array, leader: int) -> tuple[int, ...]:
    """Return each stack's tier: the first tier holds all that ``leader`` does not beat.

    The remaining stack nearest to the leader by ``estimate`` heads the second tier, with all remaining stacks that
    it does not beat, and so on. So every stack in a later tier is proved worse than the head of each earlier tier.
    No order is claimed among the other members of two tiers, or of one tier.

    ``order`` is the result of `beats`, ``estimate`` is K×K.
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


def _rank_sets(order: Flags) -> tuple[tuple[int, int], ...]:
    """Return each stack's possible ranks: from 1 + #{j that beat i} to K − #{j that i beats}, 1 being the best.

    ``order`` is the result of `beats`. All ranks hold at once, with the confidence of the limits behind ``order``.

    Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Inference for ranks with applications to mobility across
    neighbourhoods and academic achievement across countries, Review of Economic Studies 91.
    """
    over, under = order.sum(axis=0), order.sum(axis=1)
    return tuple((1 + int(o), len(order) - int(u)) for o, u in zip(over, under, strict=True))


def _settled_stacks(order: Flags, tied: Flags) -> Flags:
    """Return True for each stack whose pairs are all decided or ties, shape (K,).

    The ranking is settled when all stacks are.
    """
    return np.asarray((order | order.T | tied | np.eye(len(order), dtype=bool)).all(axis=1))


def best(estimate: Array, among: Sequence[int]) -> int:
    """Return the stack of ``among`` whose worst estimate against the others is best.

    A stack that is ahead of all others by estimate is this stack. Raise ValueError if ``among`` is empty.

    Source: Simpson 1969, Kramer 1977, the minimax rule of voting.
    """
    return max(
        among, key=lambda i: min((float(m) for m in estimate[i, list(among)] if np.isfinite(m)), default=0.0)
    )
