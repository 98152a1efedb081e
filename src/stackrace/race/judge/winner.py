"""The answer of a race: the leaders, the costs of the named stacks, and conditions that would change it.

Data only: reports make the sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice

from ...base.numbers import Interval
from ...stats import selection
from ...stats.judge import Judgement
from ...stats.values import Question
from ..results.answer import (
    Answer,
    AnswerKind,
    Condition,
    CpuCounts,
    LargerDifference,
    LatencyCounts,
    Lead,
    LeadKind,
    LessMemory,
    LighterApp,
    LighterServices,
    NoErrors,
    OtherLevels,
)
from ..results.race import Race
from ..results.standing import Costs, CpuTime, Need, Reason, Row
from .levels import JudgedLevel, blocks_of

_MOST_BEHIND = 0.25
"""Distance to the best beyond which a stack is no good advice: there is no winner yet."""


def answer_of(judged: JudgedLevel) -> Answer:
    """Return the answer of ``judged``, the headline level, to the race's question.

    The rule for a winner ends the race; the answer then follows the limits in the report's table.
    """
    race, judgement, stacks = judged.race, judged.judgement, judged.stacks
    if len(stacks) == 1:
        asked = race.limits.get(judged.measured.workload, race.stacks)
        return Answer(kind=AnswerKind.ALONE if len(asked) == 1 else AnswerKind.ONLY, stacks=tuple(stacks))
    first = judgement.leader
    lead = judgement.family.estimate[first]
    # the closest first; stacks without a common block last
    others = sorted({*range(len(stacks))} - {first}, key=lambda i: math.inf if math.isnan(lead[i]) else lead[i])
    same = _alike(judgement, race.difference)
    kind = _kind(race, judgement, same)
    named = (first, *same) if kind is AnswerKind.ALIKE else (first,)
    settled = kind not in (AnswerKind.CLOSE, AnswerKind.UNDECIDED)
    ratio = judgement.ratio(first, others[0])
    rivals = [] if settled else [i for i in others if i in _open(race, judgement)]
    return Answer(
        kind=kind,
        stacks=tuple(stacks[i] for i in named),
        rivals=tuple(stacks[i] for i in rivals),
        next_best=stacks[others[0]],
        ratio=None if math.isnan(ratio.value) else ratio,
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


def _alike(judgement: Judgement, difference: float) -> list[int]:
    """Return the stacks that are not proved worse than the leader; empty if a difference between two of them may
    matter."""
    rivals = [i for i, tier in enumerate(judgement.tiers) if tier == 1 and i != judgement.leader]
    pairs = combinations((judgement.leader, *rivals), 2)
    return rivals if all(judgement.difference(i, j) <= difference for i, j in pairs) else []


def _open(race: Race, judgement: Judgement) -> Sequence[int]:
    if race.question is Question.RANKING:
        return [i for i, done in enumerate(judgement.settled) if not done]
    return [i for i in judgement.left if judgement.tiers[i] == 1]


def _within(race: Race, judgement: Judgement, kind: AnswerKind, named: Sequence[int]) -> float | None:
    match kind:
        case AnswerKind.ALIKE:
            return max(judgement.difference(i, j) for i, j in combinations(named, 2))
        case AnswerKind.GOOD:
            # the rule that named this stack, or one that it beats, promises the difference; limits may say less
            return race.difference if judgement.behind is None else min(race.difference, judgement.behind)
        case AnswerKind.CLOSE | AnswerKind.UNDECIDED:
            return judgement.behind
    return None


def _needed_s(race: Race, judgement: Judgement, stacks: int) -> float | None:
    """Return the seconds of the further blocks of ``stacks`` stacks, if launches go on to cost the same."""
    done = len(blocks_of(race))
    if judgement.blocks_needed is None or not race.launches or not race.elapsed_s or race.repeats is not None:
        return None
    return race.elapsed_s / len(race.launches) * stacks * max(judgement.blocks_needed - done, 1)


def _is_hopeless(race: Race, judgement: Judgement) -> bool:
    bounded = judgement.behind is not None and math.isfinite(judgement.behind)
    return race.repeats is None and bounded and judgement.blocks_needed is None


def lead_of(judged: JudgedLevel) -> Lead:
    """Return the leaders at one level, as the answer at that level would name them."""
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
        return replace(nobody, kind=LeadKind.ENOUGH, stacks=(stacks[first],), within=judgement.behind)
    return replace(nobody, stacks=top)


_CHEAPER = 0.75
"""Share of the memory or CPU time up to which a stack is clearly cheaper."""
_DEARER = 1.1
"""Factor by which a cheaper stack may need more of the other resource."""

_SETTINGS = re.compile(r":[^/+]*")

_MOST_OF_IT = 0.5
"""Share of a difference that a hop must make up to explain it."""


def memory(row: Row) -> float:
    """Return the bytes (peak PSS) of the row's own hops; 0 if unknown."""
    return sum(_part(row.stack, row.memory_bytes, inside=True).values())


def cpu_ms(row: Row) -> float:
    """Return the CPU ms per request of the row's own hops; 0 if unknown."""
    return _cpu_time(row).total_ms


def _repeated_cpu_ms(row: Row) -> float:
    """Return ``cpu_ms`` of a row with several launches, else 0: a single slice may hold answers whose CPU time was
    spent before it."""
    return cpu_ms(row) if row.launches > 1 else 0.0


def costs_of(judged: JudgedLevel, next_best: str) -> Costs | None:
    """Return the needs of the first stack against those of ``next_best``, a path; None if that is empty."""
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
        equal=cheaper is not None and judgement.difference(first, cheaper) <= judged.race.difference,
    )


def _need(row: Row) -> Need:
    return Need(stack=row.stack, memory_bytes=memory(row) or None, cpu_ms_per_request=_repeated_cpu_ms(row) or None)


def _cheaper_equal(judged: JudgedLevel, first: int) -> int | None:
    """Return the stack of the first tier that is clearly cheaper than ``first``, the one with the least memory."""
    own = judged.row(first)
    rivals = [judged.stacks.index(row.stack) for row in judged.rows if row.tier == 1 and row.stack != own.stack]
    equal = [i for i in rivals if _cheaper(judged.row(i), own)]
    return min(equal, key=lambda i: (memory(judged.row(i)), cpu_ms(judged.row(i))), default=None)


def _cheaper(row: Row, other: Row) -> bool:
    pairs = [(memory(row), memory(other)), (_repeated_cpu_ms(row), _repeated_cpu_ms(other))]
    ratios = [mine / its for mine, its in pairs if mine > 0 and its > 0]
    return bool(ratios) and min(ratios) <= _CHEAPER and max(ratios) <= _DEARER


def _cpu_time(row: Row) -> CpuTime:
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
    """Return the CPU time of the first two rows; None if none was measured."""
    first, *others = (_cpu_time(row) for row in rows[:2])
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
    more_ms = second.total_ms - first.total_ms
    if more_ms <= 0 or not set(first.hops) <= set(second.hops):
        return ""
    added = {hop: ms for hop, ms in second.hops.items() if hop not in first.hops}
    return next((hop for hop, ms in added.items() if ms >= _MOST_OF_IT * more_ms), "")


_MOST = 4
"""The most conditions: more would hide the likely ones."""
_FAR = 0.3
"""The largest difference that might not matter to a user."""
_HEAVY = 0.3
"""Share of the CPU time from which services are worth mentioning."""
_HEAVIEST = 0.8
"""Share of the CPU time from which the app's own process is worth mentioning."""


def conditions_of(levels: Sequence[JudgedLevel], headline: int) -> tuple[Condition, ...]:
    """Return at most ``_MOST`` conditions; none if there is nothing to compare."""
    judged = levels[headline]
    if len(judged.rows) < 2:
        return ()
    return tuple(islice(_all(levels, judged), _MOST))


def _all(levels: Sequence[JudgedLevel], judged: JudgedLevel) -> Iterator[Condition]:
    first = judged.row(judged.first)
    yield from _difference(judged)
    yield from _levels(levels, judged)
    yield from _latency(judged.rows, first)
    yield from _errors(judged.rows, first)
    yield from _memory(judged.rows, first)
    yield from _cpu(judged.rows, first)
    yield from _elsewhere(first)


# The difference that matters


def _difference(judged: JudgedLevel) -> Iterator[Condition]:
    """Yield the stack that a slightly larger difference makes as good as the winner, by the limits of its ratio.

    Without a winner no stack is yielded: the answer itself says how far behind a leader may be.
    """
    judgement, now = judged.judgement, judged.race.difference
    if judgement.winner is None:
        return
    highs = {i: judgement.ratio(judged.first, i).high for i in range(len(judged.stacks)) if i != judged.first}
    slower = {i: math.inf if high is None else high - 1 for i, high in highs.items()}
    rival = min(slower, key=lambda i: slower[i])
    if now < slower[rival] <= _FAR:
        yield LargerDifference(stack=judged.stacks[rival], difference=slower[rival], now=now)


# Other levels


def _levels(levels: Sequence[JudgedLevel], judged: JudgedLevel) -> Iterator[Condition]:
    kin = [level for level in levels if level.series == judged.series and level is not judged]
    kin.sort(key=lambda level: level.level.load.concurrency)
    overtaken = [lead_of(level) for level in kin if _overtaken(level, judged.stacks[judged.first])]
    if not overtaken:
        return
    winner = overtaken[-1].stacks[0]
    same = [lead for lead in overtaken if lead.stacks[0] == winner]
    numbers = tuple(lead.load.concurrency for lead in same)
    below = tuple(level.level.load.concurrency for level in kin if level.level.load.concurrency <= numbers[-1])
    ratio = same[0].ratio
    yield OtherLevels(
        stack=winner,
        connections=numbers,
        or_fewer=below == numbers and numbers[-1] < judged.level.load.concurrency,
        ratio=ratio if len(same) == 1 and ratio is not None and math.isfinite(ratio.value) else None,
    )


def _overtaken(judged: JudgedLevel, stack: str) -> bool:
    lead = lead_of(judged)
    if lead.kind is not LeadKind.AHEAD or lead.stacks[0] == stack or stack not in judged.stacks:
        return False
    return bool(judged.judgement.order[judged.stacks.index(lead.stacks[0]), judged.stacks.index(stack)])


# Latency, errors, cost


def _latency(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    own = _p99(first)
    if own is None or own.low is None:
        return
    better = [
        (limits.value, row.stack, limits)
        for row in rows
        if row.stack != first.stack
        and (limits := _p99(row)) is not None
        and limits.high is not None
        and limits.high < own.low
        and not _is_bound(row)
    ]
    if better:
        _, stack, limits = min(better, key=lambda entry: entry[:2])
        yield LatencyCounts(stack=stack, p99_s=limits, first_p99_s=own, at_least=_is_bound(first))


def _p99(row: Row) -> Interval | None:
    return row.latency_limits.get("p99")


def _is_bound(row: Row) -> bool:
    return "p99" in row.latency.censored


def _errors(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    clean = next((row for row in rows if row.errors == 0 and row.requests), None)
    if first.errors and clean is not None:
        yield NoErrors(stack=clean.stack, first=first.stack, requests=first.requests, errors=first.errors)


def _memory(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    rival = next((row for row in rows if 0 < memory(row) <= _CHEAPER * memory(first)), None)
    if rival is not None:
        yield LessMemory(stack=rival.stack, memory_bytes=memory(rival), first_memory_bytes=memory(first))


def _cpu(rows: Sequence[Row], first: Row) -> Iterator[Condition]:
    rival = min((row for row in rows if _repeated_cpu_ms(row) > 0), key=cpu_ms, default=None)
    if rival is not None and cpu_ms(rival) <= _CHEAPER * _repeated_cpu_ms(first):
        yield CpuCounts(stack=rival.stack, cpu_ms_per_request=cpu_ms(rival), first_cpu_ms_per_request=cpu_ms(first))


# Where a choice of stack cannot help


def _elsewhere(row: Row) -> Iterator[Condition]:
    """Yield the condition that a service, or the app's own process, takes most of the CPU time: then the choice of
    stack changes little."""
    time = _cpu_time(row)
    services_ms = sum(time.services.values())
    whole_ms = time.total_ms + services_ms
    if whole_ms <= 0:
        return
    if time.services and services_ms >= _HEAVY * whole_ms:
        yield LighterServices(services=tuple(time.services), share=services_ms / whole_ms)
    elif len(time.hops) > 1:
        host = max(time.hops, key=lambda hop: row.stack.rfind(hop.split("+")[-1]))
        if time.hops[host] >= _HEAVIEST * whole_ms:
            yield LighterApp(first=row.stack, hop=host, share=time.hops[host] / whole_ms)
