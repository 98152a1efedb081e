"""From a race's launches to its standing, and to what it may decide on the way. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ..checks.races import examine_race
from ..model.answer import Answer, AnswerKind
from ..model.interval import Interval
from ..model.launch import Failure, FailureKind, Lack, Launch, Slice
from ..model.load import Quantiles
from ..model.race import Question, Race, Rule
from ..model.stack import original_path
from ..model.standing import Level, Row, Standing, Withdrawal
from ..model.verdict import Effect
from ..stats import selection, summary
from ..stats.allpairs import looks as allpairs
from ..stats.judge import Judgement, judge
from .answering import answer_of
from .costs import costs_of
from .cpu_time import reason_of
from .judged_level import JudgedLevel
from .leads import lead_of
from .levels import Field, blocks_of, fields, level_of
from .percentiles import Spread, latency_limits
from .resume import counted
from .scaling import curves
from .sensitivity import conditions_of
from .view import race_view, twins_apart, twins_at

__all__ = ["Decisions", "Merge", "decisions", "standing"]

PATIENCE = 4
"""An answer waits for a stack whose slices were all refused until it was launched so often."""

Merge = Callable[[Sequence[bytes]], Quantiles]
"""Merges latency histograms, one or more, into one distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a race may do next: stop, its question being answered, or go on without some."""

    settled: bool
    dropped: frozenset[str]


def standing(race: Race, *, merge: Merge, spread: Spread | None = None, thorough: bool = True) -> Standing:
    """Return how the stacks of ``race`` stand, from everything measured so far.

    A launch's value at a load level is the mean of ln(throughput) over its valid slices; launches without one do
    not count. The hidden twin is no competitor: its launches count as its original's, with which the checks on the
    race as a whole compare it. Pairs are compared over the blocks both have a value in. The headline is the
    highest concurrency at which more than half of the measured stacks have valid data (with keep-alive rather than
    without); failing that, the level with the most; of the first workload where there are several. The leader's
    row comes first: the stack that the answer speaks of. The others go by tier, then by how they compare with it.
    Launches that an interruption cut short count nowhere. What takes long to compute and only reports show is left
    out unless asked for: the curves of scaling by ``thorough``, the limits of percentiles by ``spread``, which
    takes histograms apart.
    """
    race = counted(race)
    found = fields(race, pooled=_pooled(race))
    if not found:
        return Standing(withdrawals=_withdrawals(race, set()), warnings=_warnings(race))
    at = _headline(found)
    judged = [_judged(race, field, drops=field is found[at]) for field in found]
    levels = tuple(_level(race, *both, merge, spread) for both in zip(found, judged, strict=True))
    withdrawals = _withdrawals(race, {row.stack for level in levels for row in level.rows})
    whole = [_judged_level(race, *each) for each in zip(found, judged, levels, strict=True)]
    verdict = examine_race(race_view(race, found[at].level))
    seen = Standing(
        headline=at, levels=levels, withdrawals=withdrawals, warnings=_warnings(race),
        resolution=_resolution(race, found[at], judged[at]), verdict=verdict,
        scaling=curves(whole) if thorough else (),
    )  # fmt: skip
    if not verdict.valid:
        return replace(seen, answer=Answer(kind=AnswerKind.VOID))
    return replace(
        seen,
        answer=answer_of(race, found[at], judged[at]),
        leads=tuple(lead_of(level) for level in whole),
        reason=reason_of(levels[at].rows),
        costs=costs_of(whole[at]),
        conditions=conditions_of(whole, at),
    )


def _pooled(race: Race) -> bool:
    """Tell whether the twin's launches count as its original's; by the rule of all pairs they were not used."""
    return race.rule is Rule.SELECTION


def _judged(race: Race, field: Field, *, drops: bool) -> Judgement:
    """Judge a level. Only where the answer is looked for, and not all is measured anyway, stacks are out of it."""
    drops = drops and not race.exhaustive and race.repeats is None
    return judge(field.values, race.difference, rule=race.rule, question=race.question, drops=drops)


def _judged_level(race: Race, field: Field, judgement: Judgement, level: Level) -> JudgedLevel:
    return JudgedLevel(race=race, level=level, stacks=field.stacks, judgement=judgement, values=field.values)


def _resolution(race: Race, field: Field, judgement: Judgement) -> float | None:
    """Return the smallest difference that would have shown; by the rule of all pairs, between the twins if there
    are."""
    twins = twins_at(race, field.level) if race.rule is Rule.ALL_PAIRS else None
    return judgement.resolution if twins is None else twins.resolution


def decisions(race: Race) -> Decisions:
    """Return what the last planned look decided at the headline level, nothing before the first.

    Call it between blocks, when each has been raced by all. Settled: the question is answered there. Dropped: for
    a winner, who can be the best no more, or not by anything that matters. Nothing is decided in an exhaustive
    race, or in one whose runs are counted. A stack alone is done when its own throughput is known to within the
    difference. A race that began by the rule of all pairs goes on by it: see `_by_all_pairs`.
    """
    race = counted(race)
    if race.exhaustive or race.repeats is not None:
        return _OPEN
    if race.rule is Rule.ALL_PAIRS:
        return _by_all_pairs(race)
    seen = selection.last_look(len(blocks_of(race)))
    found = fields(race, blocks=seen, pooled=True) if seen else []
    if not found:
        return _OPEN
    field = found[_headline(found)]
    if len(_asked(race, field.workload)) == 1:
        return Decisions(settled=_known(race, field, seen), dropped=frozenset())
    if not _comparable(race, field):
        return _OPEN
    judgement = _judged(race, field, drops=True)
    # twins that differ may still come together: a race that is void so far does not end early
    settled = _answers(judgement, race.question) and not twins_apart(race, blocks=seen)
    settled = settled and not _awaited(race, field)
    kept = {field.stacks[i] for i in judgement.left}
    return Decisions(settled=settled, dropped=frozenset(field.stacks) - kept)


def _awaited(race: Race, field: Field) -> bool:
    """Tell whether a stack that was up, but had nothing believable so far, may still be measured."""
    missing = set(_asked(race, field.workload)) - set(field.stacks)
    ready = Counter(launch.stack for launch in race.launches if launch.ready_s is not None)
    return any(0 < ready[stack] < PATIENCE for stack in missing)


_OPEN = Decisions(settled=False, dropped=frozenset())


def _known(race: Race, field: Field, blocks: int) -> bool:
    own = summary.intervals(field.values)[0]
    narrow = own.high is not None and own.high / own.value <= 1 + race.difference
    return narrow and blocks >= selection.ORDER_FROM


def _by_all_pairs(race: Race) -> Decisions:
    """Settled: the question is answered at every level. Dropped, at every level where it has data: who is done.

    For a winner that is who is beaten, for a ranking who has all its pairs settled. A pair with fewer blocks than
    the first look decides nothing.
    """
    seen = allpairs.last_look(len(blocks_of(race)))
    found = [field for field in fields(race, blocks=seen) if _comparable(race, field)]
    judged = [judge(field.values, race.difference, rule=race.rule, least=allpairs.LOOKS[0]) for field in found]
    measured = {stack for field in found for stack in field.stacks}
    kept = {
        stack
        for field, judgement in zip(found, judged, strict=True)
        for stack, done in zip(field.stacks, _done(judgement, race.question), strict=True)
        if not done
    }
    settled = bool(judged) and all(_answers(judgement, race.question) for judgement in judged)
    return Decisions(settled=settled and not twins_apart(race, blocks=seen), dropped=frozenset(measured - kept))


def _asked(race: Race, workload: str) -> tuple[str, ...]:
    """Return the stacks that meet a workload."""
    return tuple(race.limits.get(workload, race.stacks))


def _answers(judgement: Judgement, question: Question) -> bool:
    """Tell whether ``question`` is answered: somebody wins, or every pair is decided or a tie."""
    return bool(judgement.winners) if question is Question.WINNER else all(judgement.settled)


def _done(judgement: Judgement, question: Question) -> tuple[bool, ...]:
    """Tell of each stack whether further launches of it would not help the answer."""
    return judgement.beaten if question is Question.WINNER else judgement.settled


# Which level is spoken of


def _comparable(race: Race, field: Field) -> bool:
    """Tell whether a level holds an answer: one stack out of several is compared with nothing."""
    return len(field.stacks) >= min(2, len(_asked(race, field.workload)))


def _headline(found: Sequence[Field]) -> int:
    own = [i for i, field in enumerate(found) if field.workload == found[0].workload]
    measured = {stack for i in own for stack in found[i].stacks}
    enough = [i for i in own if 2 * len(found[i].stacks) > len(measured)]
    if enough:
        return max(enough, key=lambda i: (found[i].load.concurrency, found[i].load.keep_alive))
    return max(own, key=lambda i: (len(found[i].stacks), found[i].load.concurrency))


# One row


def _level(race: Race, field: Field, judgement: Judgement, merge: Merge, spread: Spread | None) -> Level:
    own = summary.intervals(field.values)
    rows = [_row(race, field, judgement, i, own, merge) for i in range(len(field.stacks))]
    if spread is not None:
        launches = [launch for launch in race.launches if original_path(launch.stack) in field.stacks]
        rows = [
            replace(row, latency_limits=latency_limits(slices, launches, spread))
            for row, slices in zip(rows, field.slices, strict=True)
        ]
    leader = field.stacks[judgement.leader]
    rows.sort(key=lambda row: (row.stack != leader, row.tier, -row.ratio.value))
    return Level(load=field.load, rows=tuple(rows), workload=field.workload)


def _row(race: Race, field: Field, judgement: Judgement, index: int, own: Sequence[Interval], merge: Merge) -> Row:
    stack, slices = field.stacks[index], field.slices[index]
    launches = [launch for launch in race.launches if launch.stack == stack and _counts(race, launch, field)]
    ready = [launch.ready_s for launch in launches if launch.ready_s is not None]
    errors = sum(one.result.counts.errors for one in slices)
    ratio = judgement.ratio(index, judgement.leader)
    if math.isnan(ratio.value):  # they never met in a block
        ratio = Interval(value=own[index].value / own[judgement.leader].value)
    return Row(
        stack=stack, tier=judgement.tiers[index], rank=judgement.ranks[index], throughput_per_s=own[index],
        ratio=ratio, latency=_latency(slices, merge), errors=errors,
        requests=sum(one.result.counts.ok for one in slices) + errors, cpu_ms_per_request=_cpu_ms(slices),
        memory_bytes=_memory(slices, launches),
        launches=sum(not math.isnan(value) for value in field.values[index]), slices=len(slices),
        ready_s=median(ready) if ready else None,
    )  # fmt: skip


def _counts(race: Race, launch: Launch, field: Field) -> bool:
    """A launch made for one run says nothing about other levels, one of slices something about all."""
    return race.repeats is None or any(level_of(one) == field.level for one in launch.slices)


def _latency(slices: Sequence[Slice], merge: Merge) -> Quantiles:
    """Merge the slices' distributions; a quantile that one of them knows only as a lower bound stays one."""
    parts = [one.result.latency for one in slices]
    histograms = [one.result.histogram for one in slices if one.result.histogram]
    whole = merge(histograms) if histograms else max(parts, key=lambda part: part.p99)
    censored = whole.censored.union(*(part.censored for part in parts))
    return replace(whole, max=max(part.max for part in parts), censored=censored)


def _cpu_ms(slices: Sequence[Slice]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for one in slices:
        for usage in one.usage:
            spent[usage.hop] = spent.get(usage.hop, 0.0) + usage.cpu_s
    answered = sum(one.result.counts.ok + one.result.counts.non2xx for one in slices)
    return {hop: 1000 * cpu_s / answered for hop, cpu_s in spent.items()}


def _memory(slices: Sequence[Slice], launches: Sequence[Launch]) -> dict[str, int]:
    peak: dict[str, int] = {}
    seen = [(usage.hop, usage.pss_bytes) for one in slices for usage in one.usage]
    seen += [pair for launch in launches for sample in launch.memory for pair in sample.pss_bytes.items()]
    for hop, size in seen:
        peak[hop] = max(peak.get(hop, 0), size)
    return peak


# Who is missing, and what was odd


def _withdrawals(race: Race, placed: set[str]) -> tuple[Withdrawal, ...]:
    missing = [stack for stack in race.stacks if stack not in placed]
    found = ((stack, _failure(race, stack)) for stack in missing)
    return tuple(Withdrawal(stack=stack, failure=failure) for stack, failure in found if failure is not None)


def _failure(race: Race, stack: str) -> Failure | None:
    """Return a stack's last failure, else what refused its slices, or None while its turn may still come."""
    launches = [launch for launch in race.launches if launch.stack == stack]
    failures = [launch.failure for launch in launches if launch.failure is not None]
    if failures:
        return failures[-1]
    findings = [found for launch in launches for one in launch.slices for found in one.verdict.findings]
    refusing = [found for found in findings if found.effect is not Effect.WARNS]
    if refusing:
        usual = Counter(found.check for found in refusing).most_common(1)[0][0]
        last = [found for found in refusing if found.check == usual][-1]
        return Failure(kind=FailureKind.REFUSED, finding=last)
    if launches:
        return Failure(kind=FailureKind.REFUSED, lack=Lack.RIGHT_ANSWER)
    if race.ending is not None:
        return Failure(kind=FailureKind.REFUSED, lack=Lack.LAUNCH)
    return None


def _warnings(race: Race) -> dict[str, int]:
    found = (f for launch in race.launches for one in launch.slices for f in one.verdict.findings)
    return dict(Counter(f.check for f in found if f.effect is Effect.WARNS))
