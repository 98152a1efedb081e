"""Compare the present deployment with the stack that the answer names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...base.numbers import Interval
from ...base.verdict import Effect
from ...measure.launch import Slice
from ...measure.load import Load
from ...race.judge.levels import JudgedLevel
from ...race.judge.ranking import why_missing
from ...race.judge.winner import cpu_ms, memory
from ...race.results.race import Race
from ...race.results.standing import Withdrawal
from ...stacks.stack import original_path
from ...validity.answers import failures, nothing_right, unexpected_status
from .distance import CurrentErrors, CurrentKind, CurrentStanding
from .model import CurrentQueue, deployment_of


def current_standing(
    race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]
) -> CurrentStanding | None:
    """Return how the present deployment compares at the headline level; None if none is known.

    A deployment that left the race early keeps its place and its limits.
    """
    deployment = deployment_of(race)
    yours = CurrentStanding(kind=CurrentKind.UNMEASURED, stack=race.current)
    if deployment is not None:
        yours = replace(yours, location=deployment.location, is_partial=deployment.is_partial)
        if not race.current:
            kind = CurrentKind.NOT_RACED
            return replace(yours, kind=kind, stack=deployment.stack, problem=deployment.problem)
    if not race.current:
        return None
    if (errors := _errors(race)) is not None:
        yours = replace(yours, errors=errors, queue=_queue(race, errors))
    if headline is None or race.current not in headline.stacks:
        at = None if headline is None else headline.measured.key
        failure = next((each.failure for each in withdrawals if each.stack == race.current), None)
        return replace(yours, failure=failure or why_missing(race, race.current, at))
    own, first = headline.stacks.index(race.current), headline.first
    if own == first:
        return replace(yours, kind=CurrentKind.FIRST, first=race.current)
    rows = headline.row(own), headline.row(first)
    return replace(
        yours,
        kind=CurrentKind.BEHIND if headline.judgement.order[first, own] else CurrentKind.OPEN,
        first=headline.stacks[first],
        throughput=_ratio(headline, own, first),
        memory=_share(memory(rows[0]), memory(rows[1])),
        cpu=_share(cpu_ms(rows[0]), cpu_ms(rows[1])),
    )


_WRONG = unexpected_status.declaration.id
_FAILED = frozenset(check.declaration.id for check in (failures, nothing_right))


def _errors(race: Race) -> CurrentErrors | None:
    """Return the lowest level at which errors left the present deployment no valid slice; None without one."""
    levels: dict[tuple[str, Load], list[Slice]] = {}
    for launch in race.launches:
        if original_path(launch.stack) == race.current and not launch.cut_short:
            for one in launch.slices:
                levels.setdefault((one.workload, one.load), []).append(one)
    for (workload, load), slices in sorted(levels.items(), key=lambda level: level[0][1].concurrency):
        wrong = [finding for one in slices for finding in one.verdict.findings if finding.check == _WRONG]
        faulty = [one for one in slices if _is_faulty(one) and one.result.counts.scheduled]
        if not faulty or any(one.verdict.valid for one in slices):
            continue
        counts = [one.result.counts for one in faulty]
        non2xx, ok = sum(each.non2xx for each in counts), sum(each.ok for each in counts)
        failed = sum(each.errors for each in counts) - non2xx
        if non2xx < failed or not non2xx:
            known = sum(each.ok + each.errors for each in counts)
            return CurrentErrors(load=load, workload=workload, failed=failed / known if known else 1.0)
        facts = next((finding.facts for finding in wrong if finding.facts.get("status")), {})
        return CurrentErrors(
            load=load,
            workload=workload,
            answered=non2xx / (non2xx + ok),
            status=int(str(facts.get("status", 0))),
            server=str(facts.get("server", "")),
        )
    return None


def _is_faulty(one: Slice) -> bool:
    return any(
        finding.effect is Effect.INVALIDATES and (finding.check == _WRONG or finding.check in _FAILED)
        for finding in one.verdict.findings
    )


def _queue(race: Race, errors: CurrentErrors) -> CurrentQueue | None:
    deployment = deployment_of(race)
    queue = None if deployment is None else deployment.queue
    return queue if queue is not None and queue.value < errors.load.concurrency else None


def _ratio(headline: JudgedLevel, own: int, first: int) -> Interval:
    ratio = headline.judgement.ratio(own, first)
    if math.isfinite(ratio.value):
        return ratio
    # the two stacks never ran in the same block
    values = [headline.row(index).throughput_per_s.value for index in (own, first)]
    return Interval(value=values[0] / values[1])


def _share(own: float, other: float) -> float | None:
    return own / other if own > 0 and other > 0 else None
