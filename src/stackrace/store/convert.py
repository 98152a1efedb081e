"""Values to rows and back, column by column."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Iterable

from ..model.launch import Failure, FailureKind, Launch, Slice
from ..model.load import LoadResult, Quantiles
from ..model.race import Ending, Question, Race, Rule, StackFacts
from ..model.verdict import Verdict
from .launch_documents import (
    conditions_document,
    conditions_from,
    finding_document,
    finding_from,
    memory_document,
    memory_from,
    usage_document,
    usage_from,
)
from .load_documents import (
    QuantilesDocument,
    bin_document,
    bin_from,
    counts_document,
    counts_from,
    load_document,
    load_from,
    quantiles_document,
    quantiles_from,
    target_document,
    target_from,
)
from .models import LaunchRow, RaceRow, SliceRow, StackFactsRow
from .race_documents import (
    budget_document,
    budget_from,
    duty_document,
    duty_from,
    host_document,
    host_from,
)

__all__ = [
    "facts_from",
    "facts_row",
    "launch_from",
    "launch_row",
    "race_from",
    "race_row",
    "slice_from",
    "slice_row",
]


def race_row(race: Race) -> RaceRow:
    """Return the row of ``race`` itself, without facts and launches."""
    return RaceRow(
        id=race.id,
        started_at=race.started_at,
        version=race.version,
        app=race.app,
        urls=list(race.urls),
        stacks=list(race.stacks),
        loads=[load_document(load) for load in race.loads],
        question=race.question.value,
        difference=race.difference,
        budget_s=race.budget_s,
        cores=budget_document(race.cores),
        seed=str(race.seed),
        host=host_document(race.host),
        notes=list(race.notes),
        elapsed_s=race.elapsed_s,
        ending=None if race.ending is None else race.ending.value,
        workloads={name: list(urls) for name, urls in race.workloads.items()},
        repeats=race.repeats,
        limits={name: list(paths) for name, paths in race.limits.items()},
        exhaustive=race.exhaustive,
        twin=race.twin,
        resumed=race.resumed,
        rule=race.rule.value,
        duty=None if race.duty is None else duty_document(race.duty),
    )


def race_from(row: RaceRow, facts: Iterable[StackFacts], launches: Iterable[Launch]) -> Race:
    """Undo ``race_row``."""
    return Race(
        id=row.id,
        started_at=row.started_at,
        version=row.version,
        app=row.app,
        urls=tuple(row.urls),
        stacks=tuple(row.stacks),
        loads=tuple(load_from(load) for load in row.loads),
        question=Question(row.question),
        difference=row.difference,
        budget_s=row.budget_s,
        cores=budget_from(row.cores),
        seed=int(row.seed),
        host=host_from(row.host),
        notes=tuple(row.notes),
        facts=tuple(facts),
        launches=tuple(launches),
        elapsed_s=row.elapsed_s,
        ending=None if row.ending is None else Ending(row.ending),
        workloads={name: tuple(urls) for name, urls in (row.workloads or {}).items()},
        repeats=row.repeats,
        limits={name: tuple(paths) for name, paths in (row.limits or {}).items()},
        exhaustive=bool(row.exhaustive),
        twin=row.twin or "",
        resumed=row.resumed or 0,
        rule=Rule(row.rule or Rule.ALL_PAIRS),
        duty=None if row.duty is None else duty_from(row.duty),
    )


def facts_row(race_id: str, facts: StackFacts) -> StackFactsRow:
    """Return the row of ``facts`` about a stack of the race ``race_id``."""
    return StackFactsRow(
        race_id=race_id,
        stack=facts.stack,
        versions=dict(facts.versions),
        configs=dict(facts.configs),
        commands=list(facts.commands),
    )


def facts_from(row: StackFactsRow) -> StackFacts:
    """Undo ``facts_row``."""
    return StackFacts(stack=row.stack, versions=row.versions, configs=row.configs, commands=tuple(row.commands))


def launch_row(race_id: str, position: int, launch: Launch) -> LaunchRow:
    """Return the row of ``launch``, the race's launch number ``position``, without its slices."""
    failure = launch.failure
    return LaunchRow(
        id=launch.id,
        race_id=race_id,
        position=position,
        block=launch.block,
        stack=launch.stack,
        ready_s=launch.ready_s,
        warmup_s=launch.warmup_s,
        memory=[memory_document(sample) for sample in launch.memory],
        failure_kind=failure.kind.value if failure else None,
        failure_message=failure.message if failure else None,
        failure_log=failure.log if failure else None,
        findings=[finding_document(finding) for finding in launch.verdict.findings],
    )


def launch_from(row: LaunchRow, slices: Iterable[Slice]) -> Launch:
    """Undo ``launch_row``."""
    return Launch(
        id=row.id,
        block=row.block,
        stack=row.stack,
        ready_s=row.ready_s,
        warmup_s=row.warmup_s,
        slices=tuple(slices),
        memory=tuple(memory_from(sample) for sample in row.memory),
        failure=_failure_from(row),
        verdict=Verdict(tuple(finding_from(finding) for finding in row.findings or ())),
    )


def _failure_from(row: LaunchRow) -> Failure | None:
    if row.failure_kind is None:
        return None
    return Failure(kind=FailureKind(row.failure_kind), message=row.failure_message or "", log=row.failure_log or "")


def slice_row(launch_id: str, one: Slice) -> SliceRow:
    """Return the row of a slice of the launch ``launch_id``."""
    result = one.result
    return SliceRow(
        launch_id=launch_id,
        index=one.index,
        load=load_document(one.load),
        started_at=result.started_at,
        duration_s=result.duration_s,
        counts=counts_document(result.counts),
        latency=quantiles_document(result.latency),
        connect=quantiles_document(result.connect),
        histogram=result.histogram,
        series=[bin_document(each) for each in result.series],
        status_classes=dict(result.status_classes),
        bytes_read=result.bytes_read,
        connections_opened=result.connections_opened,
        reconnects=result.reconnects,
        established_peak=result.established_peak,
        generator_cpu_s=result.generator_cpu_s,
        generator_wait_s=result.generator_wait_s,
        generator_busy=result.generator_busy,
        fairness=result.fairness,
        dead_time=result.dead_time,
        usage=[usage_document(hop) for hop in one.usage],
        findings=[finding_document(finding) for finding in one.verdict.findings],
        service=_document_or_none(result.service),
        lag=_document_or_none(result.lag),
        tls=_document_or_none(result.tls),
        pages=_document_or_none(result.pages),
        targets=[target_document(target) for target in result.targets],
        ceiling_per_s=result.ceiling_per_s,
        generator_spin_s=result.generator_spin_s,
        pool_waits=result.pool_waits,
        retried=result.retried,
        nonces_lost=result.nonces_lost,
        stale_dates=result.stale_dates,
        cached_answers=result.cached_answers,
        surplus_bytes=result.surplus_bytes,
        ports_exhausted=result.ports_exhausted,
        files_exhausted=result.files_exhausted,
        arrivals_distance=result.arrivals_distance,
        workload=one.workload,
        conditions=conditions_document(one.conditions),
    )


def slice_from(row: SliceRow) -> Slice:
    """Undo ``slice_row``."""
    return Slice(
        index=row.index,
        load=load_from(row.load),
        result=_result_from(row),
        usage=tuple(usage_from(hop) for hop in row.usage),
        verdict=Verdict(tuple(finding_from(finding) for finding in row.findings)),
        workload=row.workload or "",
        conditions=conditions_from(row.conditions),
    )


def _result_from(row: SliceRow) -> LoadResult:
    return LoadResult(
        started_at=row.started_at,
        duration_s=row.duration_s,
        counts=counts_from(row.counts),
        latency=quantiles_from(row.latency),
        connect=quantiles_from(row.connect),
        histogram=bytes(row.histogram),
        series=tuple(bin_from(each) for each in row.series),
        status_classes=row.status_classes,
        bytes_read=row.bytes_read,
        connections_opened=row.connections_opened,
        reconnects=row.reconnects,
        established_peak=row.established_peak,
        generator_cpu_s=row.generator_cpu_s,
        generator_wait_s=row.generator_wait_s,
        generator_busy=row.generator_busy,
        fairness=row.fairness,
        dead_time=row.dead_time,
        service=_quantiles_or_none(row.service),
        lag=_quantiles_or_none(row.lag),
        tls=_quantiles_or_none(row.tls),
        pages=_quantiles_or_none(row.pages),
        targets=tuple(target_from(target) for target in row.targets or ()),
        ceiling_per_s=row.ceiling_per_s,
        generator_spin_s=row.generator_spin_s or 0.0,
        pool_waits=row.pool_waits or 0,
        retried=row.retried or 0,
        nonces_lost=row.nonces_lost or 0,
        stale_dates=row.stale_dates or 0,
        cached_answers=row.cached_answers or 0,
        surplus_bytes=row.surplus_bytes or 0,
        ports_exhausted=row.ports_exhausted or 0,
        files_exhausted=row.files_exhausted or 0,
        arrivals_distance=row.arrivals_distance,
    )


def _document_or_none(latency: Quantiles | None) -> QuantilesDocument | None:
    return None if latency is None else quantiles_document(latency)


def _quantiles_or_none(document: QuantilesDocument | None) -> Quantiles | None:
    return None if document is None else quantiles_from(document)
