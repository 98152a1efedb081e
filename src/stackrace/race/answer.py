"""What a race answers, who leads, and what the stacks it names cost. Data only: reports make the sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from ..base.numbers import Interval
from ..stats import selection
from ..stats.judge import Judgement
from ..stats.values import Question
from .levels import JudgedLevel, blocks_of
from .results.answer import Answer, AnswerKind, Lead, LeadKind
from .results.race import Race
from .results.standing import Costs, CpuTime, Need, Reason, Row

_MOST_BEHIND = 0.25
"""A stack that may be further behind the best than this is no advice: there is no winner yet."""


def answer_of(judged: JudgedLevel) -> Answer:
    """Return what ``judged``, the level that the race speaks of, answers to its question.

    The rule for a winner ends the race; what is said then follows the limits of the table.
    """
    race, judgement, stacks = judged.race, judged.judgement, judged.stacks
    if len(stacks) == 1:
        asked = race.limits.get(judged.measured.workload, race.stacks)
        return Answer(kind=AnswerKind.ALONE if len(asked) == 1 else AnswerKind.ONLY, stacks=tuple(stacks))
    first = judgement.leader
    others = _by_lead(judgement, first, [i for i in range(len(stacks)) if i != first])
    same = _alike(judgement, race.difference)
    kind = _kind(race, judgement, same)
    named = (first, *same) if kind is AnswerKind.ALIKE else (first,)
    settled = kind not in (AnswerKind.CLOSE, AnswerKind.UNDECIDED)
    rivals = [] if settled else [i for i in others if i in _open(race, judgement)]
    return Answer(
        kind=kind,
        stacks=tuple(stacks[i] for i in named),
        rivals=tuple(stacks[i] for i in rivals),
        next_best=stacks[others[0]],
        ratio=_ratio(judgement, first, others[0]),
        within=_within(race, judgement, kind, named),
        blocks_needed=None if settled else judgement.blocks_needed,
        needed_s=None if settled else _needed_s(race, judgement, len(rivals) + 1),
        most_blocks=selection.LOOKS[-1] if not settled and _is_hopeless(race, judgement) else None,
    )


def _kind(race: Race, judgement: Judgement, same: Sequence[int]) -> AnswerKind:
    if race.question is Question.RANKING:
        return AnswerKind.RANKED if all(judgement.settled) else AnswerKind.UNDECIDED
    if judgement.surely:
        return AnswerKind.BEST
    behind = math.inf if judgement.behind is None else judgement.behind
    # without a winner: time ran out between two planned looks, with limits that are narrow enough
    if judgement.winner is not None or behind <= race.difference:
        return AnswerKind.ALIKE if same else AnswerKind.GOOD
    return AnswerKind.CLOSE if behind <= _MOST_BEHIND else AnswerKind.UNDECIDED


def _by_lead(judgement: Judgement, first: int, others: Sequence[int]) -> list[int]:
    """Sort ``others`` by how far the first stack is ahead of them, the closest first; those it never met last."""
    lead = judgement.family.estimate[first]
    return sorted(others, key=lambda i: math.inf if math.isnan(lead[i]) else lead[i])


def _alike(judgement: Judgement, difference: float) -> list[int]:
    """Return who is not proved worse than the leader, if nothing that matters lies between any two of them."""
    rivals = [i for i, tier in enumerate(judgement.tiers) if tier == 1 and i != judgement.leader]
    pairs = combinations((judgement.leader, *rivals), 2)
    return rivals if all(judgement.apart(i, j) <= difference for i, j in pairs) else []


def _open(race: Race, judgement: Judgement) -> Sequence[int]:
    """Return whom the question still is about."""
    if race.question is Question.RANKING:
        return [i for i, done in enumerate(judgement.settled) if not done]
    return [i for i in judgement.left if judgement.tiers[i] == 1]


def _within(race: Race, judgement: Judgement, kind: AnswerKind, named: Sequence[int]) -> float | None:
    match kind:
        case AnswerKind.ALIKE:
            return max(judgement.apart(i, j) for i, j in combinations(named, 2))
        case AnswerKind.GOOD:
            return max(race.difference, judgement.behind or 0.0)
        case AnswerKind.CLOSE | AnswerKind.UNDECIDED:
            return judgement.behind
    return None


def _ratio(judgement: Judgement, first: int, second: int) -> Interval | None:
    ratio = judgement.ratio(first, second)
    return None if math.isnan(ratio.value) else ratio


def _needed_s(race: Race, judgement: Judgement, stacks: int) -> float | None:
    """Return what further blocks of ``stacks`` stacks will take, if launches go on to cost what they did."""
    done = len(blocks_of(race))
    if judgement.blocks_needed is None or not race.launches or not race.elapsed_s or race.repeats is not None:
        return None
    return race.elapsed_s / len(race.launches) * stacks * max(judgement.blocks_needed - done, 1)


def _is_hopeless(race: Race, judgement: Judgement) -> bool:
    """Tell whether no number of blocks is likely to bring an answer."""
    bounded = judgement.behind is not None and math.isfinite(judgement.behind)
    return race.repeats is None and bounded and judgement.blocks_needed is None


def lead_of(judged: JudgedLevel) -> Lead:
    """Return who holds the first place at one level, as the answer at that level would say."""
    nobody = Lead(kind=LeadKind.OPEN, load=judged.level.load, workload=judged.level.workload)
    judgement, stacks = judged.judgement, judged.stacks
    first = judgement.leader
    top = tuple(row.stack for row in judged.rows if row.tier == 1)
    if len(judged.rows) == 1:
        return replace(nobody, kind=LeadKind.ALONE, stacks=top)
    if max(row.launches for row in judged.rows) < 2:
        fastest = max(judged.rows, key=lambda row: row.throughput_per_s.value)
        return replace(nobody, kind=LeadKind.ONCE, stacks=(fastest.stack,))
    if judgement.surely:
        second = max(judged.rows[1:], key=lambda row: row.ratio.value)
        ratio = judgement.ratio(first, stacks.index(second.stack))
        return replace(nobody, kind=LeadKind.AHEAD, stacks=(stacks[first],), ratio=ratio)
    difference = judged.race.difference
    if same := _alike(judgement, difference):
        named = (stacks[first], *sorted(stacks[i] for i in same))
        return replace(nobody, kind=LeadKind.ALIKE, stacks=named)
    if judgement.behind is not None and judgement.behind <= difference:
        return replace(nobody, kind=LeadKind.ENOUGH, stacks=(stacks[first],))
    return replace(nobody, stacks=top)


CHEAPER = 0.75
"""A stack is clearly cheaper when it needs at most this share of the memory or CPU time."""
_DEARER = 1.1
"""A cheaper stack may need this much more of the other resource and still count as cheaper."""

_SETTINGS = re.compile(r":[^/+]*")

_MOST_OF_IT = 0.5
"""A hop explains a difference when it makes up at least this share of it."""


def memory(row: Row) -> float:
    """Return the bytes (peak PSS) of the row's own hops; 0 where unknown."""
    return sum(_part(row.stack, row.memory_bytes, inside=True).values())


def cpu_ms(row: Row) -> float:
    """Return the CPU ms per request of the row's own hops; 0 where unknown."""
    return cpu_time(row).total_ms


def costs_of(judged: JudgedLevel, next_best: str) -> Costs | None:
    """Return what the first stack needs against ``next_best``, as the answer names it; None without one."""
    if not next_best:
        return None
    first, second = judged.first, judged.stacks.index(next_best)
    cheaper = _cheaper_equal(judged, first)
    judgement, ratio = judged.judgement, judged.judgement.ratio(first, second)
    return Costs(
        first=_need(judged.row(first)),
        second=_need(judged.row(second)),
        ratio=ratio if judgement.order[first, second] else None,
        cheaper=None if cheaper is None else _need(judged.row(cheaper)),
        equal=cheaper is not None and judgement.apart(first, cheaper) <= judged.race.difference,
    )


def _need(row: Row) -> Need:
    return Need(stack=row.stack, memory_bytes=memory(row) or None, cpu_ms_per_request=cpu_ms(row) or None)


def _cheaper_equal(judged: JudgedLevel, first: int) -> int | None:
    """Return the stack of the first tier that costs clearly less than ``first``, the one with the least memory."""
    own = judged.row(first)
    rivals = [judged.stacks.index(row.stack) for row in judged.rows if row.tier == 1 and row.stack != own.stack]
    equal = [i for i in rivals if _cheaper(judged.row(i), own)]
    return min(equal, key=lambda i: (memory(judged.row(i)), cpu_ms(judged.row(i))), default=None)


def _cheaper(row: Row, other: Row) -> bool:
    """Tell whether ``row`` needs clearly less of something and not much more of anything."""
    pairs = [(memory(row), memory(other)), (cpu_ms(row), cpu_ms(other))]
    ratios = [mine / its for mine, its in pairs if mine > 0 and its > 0]
    return bool(ratios) and min(ratios) <= CHEAPER and max(ratios) <= _DEARER


def cpu_time(row: Row) -> CpuTime:
    """Return the CPU time per request of a row, its own hops and the services beside it apart."""
    costs = row.cpu_ms_per_request
    return CpuTime(
        stack=row.stack,
        hops=_part(row.stack, costs, inside=True),
        services=_part(row.stack, costs, inside=False),
    )


def _part(stack: str, costs: Mapping[str, float], *, inside: bool) -> dict[str, float]:
    servers = set(re.split(r"[/+]", _SETTINGS.sub("", stack)))
    hops = {hop for hop in costs if servers.issuperset(hop.split("+"))} or set(costs)
    kept = {hop: cost for hop, cost in costs.items() if (hop in hops) is inside}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


def reason_of(rows: Sequence[Row]) -> Reason | None:
    """Return where the CPU time of the first two rows goes; None when none was seen."""
    first, *others = (cpu_time(row) for row in rows[:2])
    if min(time.total_ms for time in (first, *others)) <= 0:
        return None
    if not others:
        return Reason(first=first)
    second, ratio = others[0], rows[1].ratio
    slower = ratio.high is not None and ratio.high < 1
    return Reason(
        first=first,
        second=second,
        not_cpu=slower and first.total_ms >= second.total_ms,
        hop=_added_hop(first, second),
    )


def _added_hop(first: CpuTime, second: CpuTime) -> str:
    """Name the hop that the second stack has and the first has not, where it makes most of the difference."""
    more_ms = second.total_ms - first.total_ms
    if more_ms <= 0 or not set(first.hops) <= set(second.hops):
        return ""
    added = {hop: ms for hop, ms in second.hops.items() if hop not in first.hops}
    return next((hop for hop, ms in added.items() if ms >= _MOST_OF_IT * more_ms), "")
