"""The tables: races, what their stacks were, launches, slices; history and ids, which triggers write.

A row has the columns that queries and triggers need; ``document`` is the rest of the record as ``codec`` writes it.
What was put into a column comes back exactly, on SQLite and PostgreSQL alike.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.db import models
from django.db.models import Q

from ..base.codec import decode, dumps, encode
from ..base.text import kept, legible
from ..measure.launch import Launch, Slice, StackFacts
from ..race.results.race import Ending, Race
from .lookup import Alteration, Deed, Summary

_ID_LENGTH = 32
"""Ids have 13 characters today; later versions of the scheme are longer, this long at most."""

_RACE_COLUMNS = ("id", "started_at", "app", "budget_s", "elapsed_s", "ending", "twin", "resumed")
_LAUNCH_COLUMNS = ("id", "block", "stack")


class ExactTextField(models.TextField):
    """Any Python string, whatever a server's log contained."""

    def get_prep_value(self, value: Any) -> Any:
        """Mask and escape on the way in."""
        return None if value is None else kept(value)

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """Restore on the way out."""
        return None if value is None else legible(value)


class DocumentField(models.TextField):
    """A JSON document, as ``codec`` writes it, as ASCII text.

    Text rather than Django's JSONField: PostgreSQL's ``jsonb`` refuses NULs and lone surrogates in strings.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Write the document; NaN and infinities, which JSON lacks, must be strings by now."""
        return dumps(value)

    def from_db_value(self, value: str | None, *_: object) -> Any:
        """Read the document; NULL is None. What is no JSON stays text, which ``decode`` refuses."""
        try:
            return None if value is None else json.loads(value)
        except ValueError:
            return value


class RealField(models.FloatField):
    """Any float. NULL is NaN, a share of nothing: SQLite would turn the one into the other anyway."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "null": True})

    def get_prep_value(self, value: Any) -> Any:
        """Write NaN as NULL."""
        return None if math.isnan(value) else float(value)

    def from_db_value(self, value: float | None, *_: object) -> float:
        """Read NULL as NaN."""
        return math.nan if value is None else value


def _column(field: object) -> Any:
    return field


class Row(models.Model):
    """What all tables share."""

    objects: Any = models.Manager()

    class Meta:
        abstract = True


class RaceRow(Row):
    """One race; ``ending`` NULL while it runs or when it was killed. ``number`` grows with each that begins."""

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    started_at: str = _column(ExactTextField())
    app: str = _column(ExactTextField())
    budget_s: float = _column(RealField())
    elapsed_s: float = _column(RealField())
    ending: str | None = _column(ExactTextField(null=True))
    twin: str = _column(ExactTextField())
    resumed: int = _column(models.BigIntegerField())
    number: int = _column(models.BigIntegerField())
    duty: dict[str, object] | None = _column(DocumentField(null=True))
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_race"

    @classmethod
    def of(cls, race: Race, number: int) -> RaceRow:
        """Return the row of ``race`` itself, without facts and launches."""
        columns, document = _parted(replace(race, facts=(), launches=()), _RACE_COLUMNS)
        duty = None if race.duty is None else encode(race.duty)
        document.pop("duty", None)
        return cls(**columns, duty=duty, number=number, document=document)

    def race(self, facts: Iterable[StackFacts], launches: Iterable[Launch]) -> Race:
        """Return the race that the row is of."""
        race: Race = decode(Race, {**_joined(self, _RACE_COLUMNS), "duty": self.duty})
        return replace(race, facts=tuple(facts), launches=tuple(launches))

    def summary(self) -> Summary:
        """Return the race in one line; of an altered document, which ``race`` refuses, what is left."""
        document = self.document if isinstance(self.document, dict) else {}
        stacks, source = document.get("stacks"), document.get("source")
        project = source.get("project") if isinstance(source, dict) else None
        return Summary(
            id=self.id,
            started_at=self.started_at,
            app=self.app,
            stacks=len(stacks) if isinstance(stacks, list) else 0,
            ending=None if self.ending is None else Ending(self.ending),
            project=project if isinstance(project, str) else "",
        )


class StackFactsRow(Row):
    """What exactly one stack of a race was."""

    id: int = _column(models.BigAutoField(primary_key=True))
    race: RaceRow = _column(models.ForeignKey(RaceRow, models.PROTECT, related_name="facts"))
    race_id: str
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_stack_facts"

    @classmethod
    def of(cls, race_id: str, facts: StackFacts) -> StackFactsRow:
        """Return the row of ``facts`` about a stack of the race ``race_id``."""
        return cls(race_id=race_id, document=encode(facts))

    def facts(self) -> StackFacts:
        """Return the facts that the row is of."""
        facts: StackFacts = decode(StackFacts, self.document, "facts")
        return facts


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

    @classmethod
    def of(cls, race_id: str, position: int, launch: Launch) -> LaunchRow:
        """Return the row of ``launch``, the race's launch number ``position``, without its slices."""
        columns, document = _parted(replace(launch, slices=()), _LAUNCH_COLUMNS)
        kind = None if launch.failure is None else launch.failure.kind.value
        return cls(**columns, race_id=race_id, position=position, failure_kind=kind, document=document)

    def launch(self, slices: Iterable[Slice]) -> Launch:
        """Return the launch that the row is of."""
        launch: Launch = decode(Launch, _joined(self, _LAUNCH_COLUMNS), "launch")
        return replace(launch, slices=tuple(slices))


class SliceRow(Row):
    """One slice: the load, what the engine saw, what the hops used, what the checks found."""

    id: int = _column(models.BigAutoField(primary_key=True))
    launch: LaunchRow = _column(models.ForeignKey(LaunchRow, models.PROTECT, related_name="slices"))
    launch_id: str
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_slice"

    @classmethod
    def of(cls, launch_id: str, slice_: Slice) -> SliceRow:
        """Return the row of a slice of the launch ``launch_id``."""
        return cls(launch_id=launch_id, document=encode(slice_))

    def slice(self) -> Slice:
        """Return the slice that the row is of."""
        slice_: Slice = decode(Slice, self.document, "slice")
        return slice_


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

    def alteration(self) -> Alteration:
        """Return what the row tells."""
        return Alteration(
            race=self.race,
            kind=self.kind,
            row=self.row_id,
            deed=Deed(self.deed),
            at=self.at,
            who=self.who,
            changed=tuple(self.changed.split()),
            before=json.loads(self.before) if self.before else {},
        )


class IdRow(Row):
    """The registry: every id there is, so that none is used twice. Triggers enter races and launches.

    ``of`` is the race that a launch belongs to, or that a pretty name (``kind`` name) stands for.
    """

    id: str = _column(models.CharField(primary_key=True, max_length=_ID_LENGTH))
    kind: str = _column(models.TextField())
    of: IdRow | None = _column(models.ForeignKey("self", models.DO_NOTHING, null=True, related_name="within"))
    of_id: str | None

    class Meta:
        db_table = "stackrace_ids"
        constraints = (
            models.UniqueConstraint(fields=("of",), condition=Q(kind="name"), name="stackrace_ids_name"),
        )


def _parted(record: Race | Launch, names: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    columns = {name: getattr(record, name) for name in names}
    return columns, {name: value for name, value in encode(record).items() if name not in columns}


def _joined(row: RaceRow | LaunchRow, names: Iterable[str]) -> dict[str, Any]:
    columns = {name: getattr(row, name) for name in names}
    return {**row.document, **{name: encode(value) for name, value in columns.items() if value is not None}}
