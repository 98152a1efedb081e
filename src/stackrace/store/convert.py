"""Values to rows and back: the columns that queries and triggers need, and a document with all the rest."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..base.codec import decode, encode
from ..measure.launch import Launch, Slice
from ..race.results.duty import Duty
from ..race.results.race import Race
from ..stacks.facts import StackFacts
from .models import LaunchRow, RaceRow, SliceRow, StackFactsRow

__all__ = [
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

_RACE_COLUMNS = ("id", "started_at", "app", "budget_s", "elapsed_s", "ending", "twin", "resumed")
_LAUNCH_COLUMNS = ("id", "block", "stack")


def race_row(race: Race) -> RaceRow:
    """Return the row of ``race`` itself, without facts and launches."""
    return RaceRow(
        **{name: getattr(race, name) for name in _RACE_COLUMNS},
        duty=duty_document(race.duty),
        document=_without((*_RACE_COLUMNS, "duty"), replace(race, facts=(), launches=())),
    )


def race_from(row: RaceRow, facts: Iterable[StackFacts], launches: Iterable[Launch]) -> Race:
    """Undo ``race_row``."""
    document = _joined(row, _RACE_COLUMNS)
    race: Race = decode(Race, document if row.duty is None else {**document, "duty": row.duty})
    return replace(race, facts=tuple(facts), launches=tuple(launches))


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


def launch_row(race_id: str, position: int, launch: Launch) -> LaunchRow:
    """Return the row of ``launch``, the race's launch number ``position``, without its slices."""
    return LaunchRow(
        **{name: getattr(launch, name) for name in _LAUNCH_COLUMNS},
        race_id=race_id,
        position=position,
        failure_kind=None if launch.failure is None else launch.failure.kind.value,
        document=_without(_LAUNCH_COLUMNS, replace(launch, slices=())),
    )


def launch_from(row: LaunchRow, slices: Iterable[Slice]) -> Launch:
    """Undo ``launch_row``."""
    launch: Launch = decode(Launch, _joined(row, _LAUNCH_COLUMNS), "launch")
    return replace(launch, slices=tuple(slices))


def slice_row(launch_id: str, slice_: Slice) -> SliceRow:
    """Return the row of a slice of the launch ``launch_id``."""
    return SliceRow(launch_id=launch_id, document=encode(slice_))


def slice_from(row: SliceRow) -> Slice:
    """Undo ``slice_row``."""
    slice_: Slice = decode(Slice, row.document, "slice")
    return slice_


def _without(columns: Iterable[str], record: Race | Launch) -> dict[str, object]:
    """Return the document of ``record`` without what has ``columns``."""
    return {name: value for name, value in encode(record).items() if name not in columns}


def _joined(row: RaceRow | LaunchRow, columns: Iterable[str]) -> dict[str, object]:
    """Return the document of ``row`` with its ``columns``; rows of an early version have none of some."""
    values = {name: getattr(row, name) for name in columns}
    return {**row.document, **{name: encode(value) for name, value in values.items() if value is not None}}
