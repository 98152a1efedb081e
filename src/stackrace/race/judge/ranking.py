"""The standing of a race, row by row, from its launches. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from statistics import median

from ...base.numbers import Interval
from ...base.verdict import Effect, usual_refusal
from ...measure.launch import EndedBy, Failure, FailureKind, Launch, Shortfall, Slice
from ...measure.load import Quantiles
from ...stacks.stack import original_path
from ...stats import summary
from ...stats.judge import Judgement
from ...stats.summary import Buckets, on_common_buckets, quantile_interval
from ...validity.bottleneck import agreed
from ...validity.registry import cores_taken, examine_race
from ..results.answer import Answer, AnswerKind
from ..results.race import Race
from ..results.standing import Gap, Level, Row, Standing, Withdrawal
from ..run.resume import counted
from .levels import (
    JudgedLevel,
    LevelKey,
    MeasuredLevel,
    compared,
    curves,
    headline_of,
    judgement_of,
    key_of,
    measured_levels,
    pooled,
)
from .notices import notice_of
from .race_view import race_view
from .winner import answer_of, conditions_of, costs_of, lead_of, reason_of


def standing(race: Race, *, merge: _Merge, spread: _Spread | None = None, thorough: bool = True) -> Standing:
    """Return the standing of the stacks of ``race`` after all measurements so far.

    The hidden twin is no competitor: its launches count as its original's. The checks on the race as a whole
    compare the two. Pairs are compared over the blocks in which both have a value. `headline_of` picks the
    headline. The leader's row comes first: the stack that the answer names. The others follow by their ratio to it.
    Launches that an interruption cut short count nowhere; those on a machine with unequal ratios count only where
    machines are compared. Two parts that take long to compute and only reports show are optional: the curves of
    scaling (``thorough``), and the limits of percentiles (``spread``, which splits histograms).
    """
    whole, race = race, counted(race)
    machines = compared(race)
    race = pooled(race, machines)
    measured = measured_levels(race, pooled=True)
    if not measured:
        missing = _withdrawals(whole, set())
        return Standing(withdrawals=missing, warnings=_warnings(race), current=notice_of(race, None, missing))
    at = headline_of(measured)

    def judged(index: int, level: MeasuredLevel) -> JudgedLevel:
        judgement = judgement_of(race, level, drops=index == at)
        rows = _level_of(race, level, judgement, merge, spread)
        return JudgedLevel(race=race, measured=level, judgement=judgement, level=rows)

    levels = [judged(index, level) for index, level in enumerate(measured)]
    headline = levels[at]
    verdict = examine_race(race_view(race, headline.measured.key))
    result = Standing(
        headline=at,
        levels=tuple(level.level for level in levels),
        withdrawals=_withdrawals(whole, {row.stack for level in levels for row in level.rows}),
        gaps=_gaps(whole, levels),
        warnings=_warnings(race),
        resolution=headline.judgement.resolution,
        verdict=verdict,
        scaling=curves(levels) if thorough else (),
        machines=machines,
    )
    if not verdict.valid:
        return replace(result, answer=Answer(kind=AnswerKind.VOID))
    answer = answer_of(headline)
    return replace(
        result,
        answer=answer,
        leads=tuple(lead_of(level) for level in levels),
        reason=reason_of(headline.rows),
        costs=costs_of(headline, answer.next_best),
        conditions=conditions_of(levels, at),
        current=notice_of(race, headline, result.withdrawals),
    )


def _warnings(race: Race) -> dict[str, int]:
    findings = (f for launch in race.launches for slice_ in launch.slices for f in slice_.verdict.findings)
    return dict(Counter(finding.check for finding in findings if finding.effect is Effect.WARNS))


_Merge = Callable[[Sequence[bytes]], Quantiles]
"""Function that merges latency histograms, one or more, into one distribution."""

_LIMITED = {"p50": 0.5, "p99": 0.99, "p999": 0.999}

LEAST_BEYOND = 10
"""Requests of all launches that must lie beyond a quantile for it to be known: p99 needs 1,000 requests."""

_Spread = Callable[[bytes], Buckets]


def _level_of(
    race: Race, measured: MeasuredLevel, judgement: Judgement, merge: _Merge, spread: _Spread | None
) -> Level:
    """Return the rows of ``measured`` by tiers, the leader first, within each tier by their ratio to it; those
    without a tier last.

    Rates are scaled to the times when the leader was measured: their quotients are the ratios, though a stack that
    left early was measured in the first minutes only.
    """
    throughputs = summary.intervals(measured.values)
    rows = [_row(race, measured, judgement, i, throughputs, merge) for i in range(len(measured.stacks))]
    if spread is not None:
        launches = [launch for launch in race.launches if original_path(launch.stack) in measured.stacks]
        rows = [
            replace(row, latency_limits=latency_limits(slices, launches, spread))
            for row, slices in zip(rows, measured.slices, strict=True)
        ]
    leader = measured.stacks[judgement.leader]
    rows.sort(key=lambda row: (row.tier is None, row.tier or 0, row.stack != leader, -row.ratio.value))
    return Level(load=measured.load, rows=tuple(rows), workload=measured.workload)


def _row(
    race: Race,
    measured: MeasuredLevel,
    judgement: Judgement,
    index: int,
    throughputs: Sequence[Interval],
    merge: _Merge,
) -> Row:
    stack, slices = measured.stacks[index], measured.slices[index]
    launches = [launch for launch in race.launches if launch.stack == stack]
    if race.repeats is not None:
        # a launch made for one run says nothing about other levels
        launches = [launch for launch in launches if measured.key in map(key_of, launch.slices)]
    ready = [launch.ready_s for launch in launches if launch.ready_s is not None]
    errors = sum(slice_.result.counts.errors for slice_ in slices)
    latency = _latency(slices, merge)
    own, leader = throughputs[index], throughputs[judgement.leader]
    ratio = judgement.ratio(index, judgement.leader)
    if math.isnan(ratio.value):  # the two shared no block
        ratio = Interval(value=own.value / leader.value)
    value = leader.value * ratio.value
    low, high = (None if limit is None else limit * value / own.value for limit in (own.low, own.high))
    return Row(
        stack=stack,
        tier=None if ratio.low is None and index not in judgement.left else judgement.tiers[index],
        rank=judgement.ranks[index],
        throughput_per_s=Interval(value=value, low=low, high=high),
        ratio=ratio,
        latency=latency,
        p50_without_network_s=_without_network_s(latency, slices),
        errors=errors,
        requests=sum(slice_.result.counts.ok for slice_ in slices) + errors,
        cpu_ms_per_request=_cpu_ms(slices),
        memory_bytes=_memory(slices, launches),
        launches=sum(not math.isnan(value) for value in measured.values[index]),
        slices=len(slices),
        ready_s=median(ready) if ready else None,
        bottleneck=agreed([slice_.bottleneck for slice_ in slices]),
    )


def _latency(slices: Sequence[Slice], merge: _Merge) -> Quantiles:
    """Return the merged distribution of the slices; a quantile that is a bound in one of them stays a bound."""
    parts = [slice_.result.latency for slice_ in slices]
    histograms = [slice_.result.histogram for slice_ in slices if slice_.result.histogram]
    whole = merge(histograms) if histograms else max(parts, key=lambda part: part.p99)
    censored = whole.censored.union(*(part.censored for part in parts))
    return replace(whole, max=max(part.max for part in parts), censored=censored)


def _without_network_s(latency: Quantiles, slices: Sequence[Slice]) -> float | None:
    """Return the median less the longest round trip of the faster half of answers; None if no round trip is known.

    If most requests opened a connection they took a second round trip. Source: RFC 9293 section 3.5.
    """
    opened = sum(slice_.result.connections_opened for slice_ in slices)
    trips = 2 if opened > sum(slice_.result.counts.ok for slice_ in slices) / 2 else 1
    shares = [share for slice_ in slices for share in slice_.result.engines if share.answered]
    left = sum(share.answered for share in shares) / 2
    for share in sorted(shares, key=lambda share: share.round_trip_s):
        left -= share.answered
        if left <= 0:
            return max(latency.p50 - trips * share.round_trip_s, 0.0)
    return None


def _cpu_ms(slices: Sequence[Slice]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for slice_ in slices:
        for usage in slice_.usage:
            spent[usage.hop] = spent.get(usage.hop, 0.0) + usage.cpu_s
    answered = sum(slice_.result.counts.ok + slice_.result.counts.non2xx for slice_ in slices)
    return {hop: 1000 * cpu_s / answered for hop, cpu_s in spent.items()}


def _memory(slices: Sequence[Slice], launches: Sequence[Launch]) -> dict[str, int]:
    peak: dict[str, int] = {}
    sizes = [(usage.hop, usage.pss_bytes) for slice_ in slices for usage in slice_.usage]
    sizes += [pair for launch in launches for sample in launch.memory for pair in sample.pss_bytes.items()]
    for hop, size in sizes:
        peak[hop] = max(peak.get(hop, 0), size)
    return peak


def latency_limits(
    slices: Sequence[Slice], launches: Sequence[Launch], spread: _Spread
) -> dict[str, Interval | None]:
    """Return one stack's quantiles at one level in seconds with 95 % limits; None if requests are too few.

    ``slices`` are the valid slices of some of ``launches``. The result is empty if a slice has no histogram. See
    `stats.summary.enough` for when one launch is enough for a quantile.
    """
    groups = _by_launch(slices, launches)
    if not groups or not all(slice_.result.histogram for group in groups for slice_ in group):
        return {}
    buckets = [[pair for slice_ in group for pair in spread(slice_.result.histogram)] for group in groups]
    values, counts = on_common_buckets(buckets)
    total = float(counts.sum())
    return {
        name: quantile_interval(values, counts, q) if total * (1 - q) >= LEAST_BEYOND else None
        for name, q in _LIMITED.items()
    }


def _by_launch(slices: Sequence[Slice], launches: Sequence[Launch]) -> list[list[Slice]]:
    wanted = {id(slice_) for slice_ in slices}
    groups = ([slice_ for slice_ in launch.slices if id(slice_) in wanted] for launch in launches)
    return [group for group in groups if group]


def _withdrawals(race: Race, placed: Set[str]) -> tuple[Withdrawal, ...]:
    """Return the stacks that are not ``placed``, with reasons, except for stacks that are still to be raced."""
    missing = ((stack, why_missing(race, stack)) for stack in race.stacks if stack not in placed)
    return tuple(Withdrawal(stack=stack, failure=failure) for stack, failure in missing if failure is not None)


def _gaps(race: Race, levels: Sequence[JudgedLevel]) -> tuple[Gap, ...]:
    rows = {level.measured.key: {row.stack for row in level.rows} for level in levels}
    return tuple(
        Gap(stack=stack, workload=name, load=load, failure=failure)
        for name in tuple(race.workloads) or ("",)
        for load in race.loads
        for stack in race.limits.get(name, race.stacks)
        if stack not in rows.get((name, load.label), ()) and any(stack in placed for placed in rows.values())
        if (failure := why_missing(race, stack, (name, load.label))) is not None
    )


_UNEXPLAINED = Failure(kind=FailureKind.UNMEASURED)
"""Failure if no reason was recorded, which is a bug of Stackrace, not a failure of the stack."""


def why_missing(race: Race, stack: str, level: LevelKey | None = None) -> Failure | None:
    """Return the reason why a stack has no figure at ``level``, or at any level if None; None while it may still
    get one."""
    everything = [launch for launch in race.launches if launch.stack == stack]
    launches = [launch for launch in everything if not launch.cut_short] or (everything if race.ending else [])
    taken_slices = [
        (launch, one) for launch in launches for one in launch.slices if level is None or key_of(one) == level
    ]
    failures = [launch.failure for launch in launches if launch.failure is not None]
    early = [failure for failure in failures if failure.kind is not FailureKind.NOT_STOPPED]
    if early and (level is None or not taken_slices):
        return early[-1]
    refusal = usual_refusal(verdict for launch, one in taken_slices for verdict in (launch.verdict, one.verdict))
    if refusal is not None:
        return Failure(kind=FailureKind.REFUSED, finding=refusal)
    if taken_slices:
        return _uncounted(race, {launch.block for launch, _ in taken_slices}, level)
    shortfalls = [launch.shortfall for launch in launches if launch.shortfall is not None]
    if shortfalls:
        return Failure(kind=FailureKind.UNMEASURED, shortfall=shortfalls[-1], launches=len(shortfalls))
    if failures:
        return failures[-1]
    if race.ending is None:
        return None
    if launches and level is None:
        return _UNEXPLAINED
    return Failure(kind=FailureKind.UNMEASURED, shortfall=Shortfall(ended_by=EndedBy(race.ending)))


def _uncounted(race: Race, blocks: Set[int], level: LevelKey | None) -> Failure | None:
    """Return the reason why valid slices taken in ``blocks`` do not count; None while more may come."""
    slices = [
        one for launch in counted(race).launches for one in launch.slices
        if launch.block in blocks and level in (None, key_of(one)) and cores_taken(one.verdict.findings)
    ]  # fmt: skip
    if (finding := usual_refusal(one.verdict for one in slices)) is not None:
        why = Shortfall(ended_by=EndedBy.DISTURBED)
        return Failure(kind=FailureKind.UNMEASURED, finding=finding, shortfall=why)
    whole = counted(race)
    if blocks - {launch.block for launch in pooled(whole, compared(whole)).launches}:
        return Failure(kind=FailureKind.UNMEASURED, shortfall=Shortfall(ended_by=EndedBy.UNEQUAL))
    return None if race.ending is None else _UNEXPLAINED
