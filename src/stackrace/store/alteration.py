"""What history tells of one stored row: who did what to it, when, and what it was before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Alteration", "Deed", "note_of"]


class Deed(StrEnum):
    """What was done to a row that was not part of measuring."""

    ADDED = "insert"
    """A row joined a race that had ended."""
    CHANGED = "update"
    DELETED = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """One row of history."""

    race: str
    """The race's id."""
    kind: str
    """race, facts, launch or slice."""
    row: str
    """The row's id."""
    deed: Deed
    at: str
    """UTC in ISO 8601."""
    who: str
    """As much as the database knows."""
    changed: tuple[str, ...] = ()
    """The columns that differ."""
    before: Mapping[str, object] = field(default_factory=dict)
    """The whole row as it was, by column: bytes in hexadecimal; empty for a row that was added."""


def note_of(alterations: Sequence[Alteration]) -> str:
    """Return the sentence that every report of an altered race carries.

    >>> note_of([])
    ''
    """
    if not alterations:
        return ""
    count, last = len(alterations), alterations[-1]
    times = "once" if count == 1 else f"{count} times"
    return (
        f"This result was altered {times} in its store, last at {last.at} by {last.who}: "
        f"see `stackrace history {last.race}`."
    )
