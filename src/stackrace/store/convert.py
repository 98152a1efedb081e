"""Values to rows and back: the columns that queries and triggers need, and a document with all the rest."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..codec import decode, encode
from ..model.duty import Duty
from ..model.launch import FailureKind, Launch, Slice
from ..model.race import Race, StackFacts
from .models import LaunchRow, RaceRow, SliceRow, StackFactsRow

__all__ = [
    "code_of",
    "duty_document",
    "facts_from",
    "facts_row",
    "launch_from",
    "launch_row",
    "race_from",
    "race_row",
    "slice_from",
    "slice_row",
]

_RACE_COLUMNS = ("id", "started_at", "app", "ending", "elapsed_s", "resumed", "budget_s", "twin", "duty")
_LAUNCH_COLUMNS = ("id", "block", "stack")


def race_row(race: Race) -> RaceRow:
    """Return the row of ``race`` itself, without facts and launches."""
    return RaceRow(
        id=race.id,
        started_at=race.started_at,
        app=race.app,
        ending=race.ending,
        elapsed_s=race.elapsed_s,
        resumed=race.resumed,
        budget_s=race.budget_s,
        twin=race.twin,
        duty=duty_document(race.duty),
        document=_without(_RACE_COLUMNS, encode(replace(race, facts=(), launches=()))),
    )


def race_from(row: RaceRow, facts: Iterable[StackFacts], launches: Iterable[Launch]) -> Race:
    """Undo ``race_row``."""
    columns = {"id": row.id, "started_at": row.started_at, "app": row.app, "budget_s": row.budget_s}
    race: Race = decode(Race, {**row.document, **_plain(columns), "ending": row.ending})
    return replace(
        race,
        elapsed_s=row.elapsed_s,
        twin=row.twin or "",
        resumed=row.resumed or 0,
        duty=None if row.duty is None else decode(Duty, row.duty, "duty"),
        facts=tuple(facts),
        launches=tuple(launches),
    )


def duty_document(duty: Duty | None) -> dict[str, object] | None:
    """Return where a race's time went, as the race's row has it."""
    return None if duty is None else encode(duty)


def facts_row(race_id: str, facts: StackFacts) -> StackFactsRow:
    """Return the row of ``facts`` about a stack of the race ``race_id``."""
    return StackFactsRow(race_id=race_id, document=encode(facts))


def facts_from(row: StackFactsRow) -> StackFacts:
    """Undo ``facts_row``."""
    facts: StackFacts = decode(StackFacts, row.document, "facts")
    return facts


def code_of(kind: FailureKind) -> str:
    """Return what the column ``failure_kind`` holds for ``kind``; the triggers know the code of one."""
    return kind.name.lower()


def launch_row(race_id: str, position: int, launch: Launch) -> LaunchRow:
    """Return the row of ``launch``, the race's launch number ``position``, without its slices."""
    return LaunchRow(
        id=launch.id,
        race_id=race_id,
        position=position,
        block=launch.block,
        stack=launch.stack,
        failure_kind=None if launch.failure is None else code_of(launch.failure.kind),
        document=_without(_LAUNCH_COLUMNS, encode(replace(launch, slices=()))),
    )


def launch_from(row: LaunchRow, slices: Iterable[Slice]) -> Launch:
    """Undo ``launch_row``."""
    columns = {"id": row.id, "block": row.block, "stack": row.stack}
    launch: Launch = decode(Launch, {**row.document, **_plain(columns)}, "launch")
    return replace(launch, slices=tuple(slices))


def slice_row(launch_id: str, one: Slice) -> SliceRow:
    """Return the row of a slice of the launch ``launch_id``."""
    return SliceRow(launch_id=launch_id, document=encode(one))


def slice_from(row: SliceRow) -> Slice:
    """Undo ``slice_row``."""
    one: Slice = decode(Slice, row.document, "slice")
    return one


def _without(columns: Iterable[str], document: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in columns}


def _plain(columns: Mapping[str, Any]) -> dict[str, object]:
    return {name: encode(value) for name, value in columns.items()}
