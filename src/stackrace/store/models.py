"""Tables: races, facts about their stacks, launches, slices; history and ids, which triggers write.

A row has the columns that queries and triggers need; ``document`` is the rest of the record in the form of
``codec``. Values come back from a column exactly, on SQLite and PostgreSQL alike.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from django.db import models
from django.db.models import Q

from ..base.codec import decode, dumps, encode
from ..base.text import kept, legible
from ..measure.launch import Launch, Slice, StackFacts
from ..race.results.race import Ending, Race
from ..race.run.resume import Checkpoint
from .lookup import Alteration, Deed, Summary

_ID_LENGTH = 32
"""Longest id. Ids have 13 characters today; those of later versions may be longer."""

_RACE_COLUMNS = ("id", "started_at", "app", "budget_s", "elapsed_s", "ending", "twin", "resumed")
_LAUNCH_COLUMNS = ("id", "block", "stack")


class ExactTextField(models.TextField):
    """Text field for any Python string, such as a server's log."""

    def get_prep_value(self, value: Any) -> Any:
        """Mask and escape the text to be stored."""
        return None if value is None else kept(value)

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """Restore the stored text."""
        return None if value is None else legible(value)


class DocumentField(models.TextField):
    """JSON document in the form of ``codec``, as ASCII text.

    Text rather than Django's JSONField: PostgreSQL's ``jsonb`` refuses NULs and lone surrogates in strings.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Return the document as text; NaN and infinities, which JSON lacks, must be strings already."""
        return dumps(value)

    def from_db_value(self, value: str | None, *_: object) -> Any:
        """Return the document; None for NULL. Text that is no JSON stays text, which ``decode`` refuses."""
        try:
            return None if value is None else json.loads(value)
        except ValueError:
            return value


class RealField(models.FloatField):
    """Field for any float. NULL is NaN, a share of nothing: SQLite would turn NaN into NULL anyway."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "null": True})

    def get_prep_value(self, value: Any) -> Any:
        """Return NULL for NaN."""
        return None if math.isnan(value) else float(value)

    def from_db_value(self, value: float | None, *_: object) -> float:
        """Return NaN for NULL."""
        return math.nan if value is None else value


def _column(field: object) -> Any:
    return field


class Row(models.Model):
    """Base of all tables."""

    objects: Any = models.Manager()

    class Meta:
        abstract = True


class RaceRow(Row):
    """Race; ``ending`` is NULL while it runs or if it was killed. ``number`` grows with each race that begins.

    Only a race of this store has a ``checkpoint``, not one that was fetched, nor a check.
    """

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
    checkpoint: dict[str, Any] | None = _column(DocumentField(null=True))
    document: dict[str, object] = _column(DocumentField())

    class Meta:
        db_table = "stackrace_race"

    @classmethod
    def of(cls, race: Race, number: int, checkpoint: Checkpoint | None) -> RaceRow:
        """Return the row of ``race`` itself, without facts and launches."""
        columns, document = _split(replace(race, facts=(), launches=()), _RACE_COLUMNS)
        duty = None if race.duty is None else encode(race.duty)
        document.pop("duty", None)
        state = None if checkpoint is None else asdict(checkpoint)
        return cls(**columns, duty=duty, number=number, checkpoint=state, document=document)

    def race(self, facts: Iterable[StackFacts], launches: Iterable[Launch]) -> Race:
        """Return the race in this row, with ``facts`` and ``launches``."""
        race: Race = decode(Race, {**_document_of(self, _RACE_COLUMNS), "duty": self.duty})
        return replace(race, facts=tuple(facts), launches=tuple(launches))

    def summary(self, name: str = "") -> Summary:
        """Return the race in one line, even if its document was altered so that ``race`` refuses it."""
        document = self.document if isinstance(self.document, dict) else {}
        stacks, source, parts = document.get("stacks"), document.get("source"), document.get("parts")
        project = source.get("project") if isinstance(source, dict) else None
        return Summary(
            id=self.id,
            started_at=self.started_at,
            app=self.app,
            stacks=tuple(map(str, stacks)) if isinstance(stacks, list) else (),
            ending=None if self.ending is None else Ending(self.ending),
            project=project if isinstance(project, str) else "",
            name=name,
            parts=tuple(parts) if isinstance(parts, dict) else (),
        )


class StackFactsRow(Row):
    """Facts about one stack of a race."""

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
        """Return the facts in this row."""
        facts: StackFacts = decode(StackFacts, self.document, "facts")
        return facts


class LaunchRow(Row):
    """Launch; ``position`` counts the launches of its race in order of time, from 0.

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
        columns, document = _split(replace(launch, slices=()), _LAUNCH_COLUMNS)
        kind = None if launch.failure is None else launch.failure.kind.value
        return cls(**columns, race_id=race_id, position=position, failure_kind=kind, document=document)

    def launch(self, slices: Iterable[Slice]) -> Launch:
        """Return the launch in this row, with ``slices``."""
        launch: Launch = decode(Launch, _document_of(self, _LAUNCH_COLUMNS), "launch")
        return replace(launch, slices=tuple(slices))


class SliceRow(Row):
    """Slice: the load, its result, the usage of the hops, and the findings of the checks."""

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
        """Return the slice in this row."""
        slice_: Slice = decode(Slice, self.document, "slice")
        return slice_


class HistoryRow(Row):
    """Change to a result that was not part of measuring; only triggers write it."""

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
        """Return the alteration in this row."""
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
    """Registry of all ids, so that none is used twice. Triggers enter races and launches.

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


def _split(record: Race | Launch, names: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields ``names`` of ``record``, which have columns, and a JSON document of all others."""
    columns = {name: getattr(record, name) for name in names}
    return columns, {name: value for name, value in encode(record).items() if name not in columns}


def _document_of(row: RaceRow | LaunchRow, names: Iterable[str]) -> dict[str, Any]:
    """Return the whole JSON document of a record: that of ``row``, with the values of the columns ``names``."""
    columns = {name: getattr(row, name) for name in names}
    return {**row.document, **{name: encode(value) for name, value in columns.items() if value is not None}}
