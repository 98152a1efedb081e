"""The tables: races, what their stacks were, launches, slices; history and ids, which triggers write.

A row has the columns that queries and triggers need; ``document`` is the rest of the record as ``codec`` writes it.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from typing import Any

from django.db import models

from .fields import DocumentField, ExactTextField, RealField

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
    """One race; ``ending`` NULL while it runs or when it was killed. ``number`` grows with each that begins here.

    Columns that may be NULL are not in rows that an early version wrote.
    """

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    started_at: str = _column(ExactTextField())
    app: str = _column(ExactTextField())
    budget_s: float = _column(RealField())
    elapsed_s: float = _column(RealField())
    ending: str | None = _column(ExactTextField(null=True))
    twin: str | None = _column(ExactTextField(null=True))
    resumed: int | None = _column(models.BigIntegerField(null=True))
    number: int | None = _column(models.BigIntegerField(null=True))
    duty: dict[str, object] | None = _column(DocumentField(null=True))
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_race"


class StackFactsRow(Row):
    """What exactly one stack of a race was."""

    id: int = _column(models.BigAutoField(primary_key=True))
    race: RaceRow = _column(models.ForeignKey(RaceRow, models.PROTECT, related_name="facts"))
    race_id: str
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_stack_facts"


class LaunchRow(Row):
    """One launch; ``position`` counts the launches of its race in order of time, from 0.

    ``document`` is empty and ``failure_kind``, a code, NULL until the launch ends.
    """

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    race: RaceRow = _column(models.ForeignKey(RaceRow, models.PROTECT, related_name="launches"))
    race_id: str
    position: int = _column(models.IntegerField())
    block: int = _column(models.IntegerField())
    stack: str = _column(ExactTextField())
    failure_kind: str | None = _column(ExactTextField(null=True))
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_launch"
        constraints = (models.UniqueConstraint(fields=("race", "position"), name="stackrace_launch_order"),)


class SliceRow(Row):
    """One slice: the load, what the engine saw, what the hops used, what the checks found."""

    id: int = _column(models.BigAutoField(primary_key=True))
    launch: LaunchRow = _column(models.ForeignKey(LaunchRow, models.PROTECT, related_name="slices"))
    launch_id: str
    document: dict[str, object] = _column(DocumentField())

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
