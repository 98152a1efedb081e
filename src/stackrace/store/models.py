"""The tables: races, what their stacks were, launches, slices; history and ids, which triggers write.

Only rows; ``convert`` knows the values.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from typing import Any

from django.db import models

from .fields import DocumentField, ExactTextField, RealField
from .launch_documents import ConditionsDocument, FindingDocument, MemoryDocument, UsageDocument
from .load_documents import BinDocument, CountsDocument, LoadDocument, QuantilesDocument, TargetDocument
from .race_documents import BudgetDocument, DutyDocument, HostDocument

__all__ = ["HistoryRow", "IdRow", "LaunchRow", "RaceRow", "SliceRow", "StackFactsRow"]

_ID_LENGTH = 32
"""Ids have 13 characters today; later versions of the scheme are longer, this long at most."""


def _column(field: object) -> Any:
    """Let a column be annotated with what it holds in a row."""
    return field


class Row(models.Model):
    """What all tables share."""

    objects: Any = models.Manager()

    class Meta:
        abstract = True


class RaceRow(Row):
    """One race; ``ending`` NULL while it runs or when it was killed."""

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    started_at: str = _column(ExactTextField())
    version: str = _column(ExactTextField())
    app: str = _column(ExactTextField())
    urls: list[str] = _column(DocumentField())
    stacks: list[str] = _column(DocumentField())
    loads: list[LoadDocument] = _column(DocumentField())
    question: str = _column(ExactTextField())
    difference: float = _column(RealField())
    budget_s: float = _column(RealField())
    cores: BudgetDocument = _column(DocumentField())
    seed: str = _column(ExactTextField())  # decimal digits: it may be longer than 64 bits
    host: HostDocument = _column(DocumentField())
    notes: list[str] = _column(DocumentField())
    elapsed_s: float = _column(RealField())
    ending: str | None = _column(ExactTextField(null=True))
    workloads: dict[str, list[str]] | None = _column(DocumentField(null=True))
    repeats: int | None = _column(models.BigIntegerField(null=True))
    limits: dict[str, list[str]] | None = _column(DocumentField(null=True))
    exhaustive: bool | None = _column(models.BooleanField(null=True))
    twin: str | None = _column(ExactTextField(null=True))
    resumed: int | None = _column(models.BigIntegerField(null=True))
    rule: str | None = _column(ExactTextField(null=True))
    duty: DutyDocument | None = _column(DocumentField(null=True))

    class Meta:
        db_table = "stackrace_race"


class StackFactsRow(Row):
    """What exactly one stack of a race was."""

    id: int = _column(models.BigAutoField(primary_key=True))
    race: RaceRow = _column(models.ForeignKey(RaceRow, models.PROTECT, related_name="facts"))
    race_id: str
    stack: str = _column(ExactTextField())
    versions: dict[str, str] = _column(DocumentField())
    configs: dict[str, str] = _column(DocumentField())
    commands: list[str] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_stack_facts"


class LaunchRow(Row):
    """One launch; ``position`` counts the launches of its race in order of time, from 0."""

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    race: RaceRow = _column(models.ForeignKey(RaceRow, models.PROTECT, related_name="launches"))
    race_id: str
    position: int = _column(models.IntegerField())
    block: int = _column(models.IntegerField())
    stack: str = _column(ExactTextField())
    ready_s: float | None = _column(models.FloatField(null=True))
    warmup_s: float = _column(RealField())
    memory: list[MemoryDocument] = _column(DocumentField())
    failure_kind: str | None = _column(ExactTextField(null=True))
    failure_message: str | None = _column(ExactTextField(null=True))
    failure_log: str | None = _column(ExactTextField(null=True))
    findings: list[FindingDocument] | None = _column(DocumentField(null=True))

    class Meta:
        db_table = "stackrace_launch"
        constraints = (models.UniqueConstraint(fields=("race", "position"), name="stackrace_launch_order"),)


class SliceRow(Row):
    """One slice: the load, what the engine saw, what the hops used, what the checks found.

    The columns that may be NULL are not in rows that an earlier version wrote.
    """

    id: int = _column(models.BigAutoField(primary_key=True))
    launch: LaunchRow = _column(models.ForeignKey(LaunchRow, models.PROTECT, related_name="slices"))
    launch_id: str
    index: int = _column(models.BigIntegerField())
    load: LoadDocument = _column(DocumentField())
    started_at: float = _column(RealField())
    duration_s: float = _column(RealField())
    counts: CountsDocument = _column(DocumentField())
    latency: QuantilesDocument = _column(DocumentField())
    connect: QuantilesDocument = _column(DocumentField())
    histogram: bytes = _column(models.BinaryField())
    series: list[BinDocument] = _column(DocumentField())
    status_classes: dict[str, int] = _column(DocumentField())
    bytes_read: int = _column(models.BigIntegerField())
    connections_opened: int = _column(models.BigIntegerField())
    reconnects: int = _column(models.BigIntegerField())
    established_peak: int = _column(models.BigIntegerField())
    generator_cpu_s: float = _column(RealField())
    generator_wait_s: float = _column(RealField())
    generator_busy: float = _column(RealField())
    fairness: float = _column(RealField())
    dead_time: float = _column(RealField())
    usage: list[UsageDocument] = _column(DocumentField())
    findings: list[FindingDocument] = _column(DocumentField())
    service: QuantilesDocument | None = _column(DocumentField(null=True))
    lag: QuantilesDocument | None = _column(DocumentField(null=True))
    tls: QuantilesDocument | None = _column(DocumentField(null=True))
    pages: QuantilesDocument | None = _column(DocumentField(null=True))
    targets: list[TargetDocument] | None = _column(DocumentField(null=True))
    ceiling_per_s: float | None = _column(models.FloatField(null=True))
    generator_spin_s: float | None = _column(models.FloatField(null=True))
    pool_waits: int | None = _column(models.BigIntegerField(null=True))
    retried: int | None = _column(models.BigIntegerField(null=True))
    nonces_lost: int | None = _column(models.BigIntegerField(null=True))
    stale_dates: int | None = _column(models.BigIntegerField(null=True))
    cached_answers: int | None = _column(models.BigIntegerField(null=True))
    surplus_bytes: int | None = _column(models.BigIntegerField(null=True))
    ports_exhausted: int | None = _column(models.BigIntegerField(null=True))
    files_exhausted: int | None = _column(models.BigIntegerField(null=True))
    arrivals_distance: float | None = _column(models.FloatField(null=True))
    workload: str | None = _column(ExactTextField(null=True))
    conditions: ConditionsDocument | None = _column(DocumentField(null=True))

    class Meta:
        db_table = "stackrace_slice"


class HistoryRow(Row):
    """One change to a result that was no part of measuring; written by triggers alone."""

    id: int = _column(models.BigAutoField(primary_key=True))
    race: str = _column(models.CharField(max_length=_ID_LENGTH, db_index=True))
    kind: str = _column(models.TextField())
    row_id: str = _column(models.TextField())
    deed: str = _column(models.TextField())
    at: str = _column(models.TextField())
    who: str = _column(ExactTextField())
    changed: str = _column(models.TextField())
    before: str | None = _column(models.TextField(null=True))

    class Meta:
        db_table = "stackrace_history"


class IdRow(Row):
    """The registry: every id there is, so that none is used twice. Triggers enter races and launches.

    ``of`` is the race that a launch belongs to, or that a pretty name (``kind`` name) stands for.
    """

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    kind: str = _column(models.TextField())
    of: IdRow | None = _column(
        models.ForeignKey("self", models.DO_NOTHING, null=True, related_name="within", db_constraint=True)
    )
    of_id: str | None

    class Meta:
        db_table = "stackrace_ids"
