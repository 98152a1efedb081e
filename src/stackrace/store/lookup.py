"""Lookups in a store: the race that an id means, races in one line each, and changes made to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum

from ..base.errors import StoreError
from ..race.results.race import Ending

_NEAR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Summary of a race, enough to recognise it in a list."""

    id: str
    started_at: str
    app: str
    stacks: tuple[str, ...]
    """Paths of the stacks."""
    ending: Ending | None
    """Ending of the race; None while it runs, or if it was killed."""
    project: str = ""
    """Name of the race's project, as in ``Source.project``; empty if unknown."""
    name: str = ""
    """Name that the user gave the race; empty if it has none."""
    parts: tuple[str, ...] = ()
    """Names of the parts that features store with it, such as ``tuning``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """State of a race that may still run, cheap enough to be read every second."""

    ending: Ending | None
    blocks: int
    """Number of whole blocks."""
    slices: int
    """Number of finished slices."""
    spent_s: float
    """Seconds of the budget that the whole blocks took; 0 if the store does not know."""


class Deed(StrEnum):
    """Change to a row that was not part of measuring."""

    ADDED = "insert"
    """Row added to a race that had ended."""
    CHANGED = "update"
    DELETED = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """One row of history: the change to a stored row, its author and time, and the row before it."""

    race: str
    """Id of the race."""
    kind: str
    """Kind of the row: race, facts, launch or slice."""
    row: str
    """Id of the row."""
    deed: Deed
    at: str
    """Time in UTC, ISO 8601."""
    who: str
    """Author, as far as the database knows."""
    changed: tuple[str, ...] = ()
    """Columns that differ."""
    before: Mapping[str, object] = field(default_factory=dict)
    """Whole row before the change, by column, bytes in hexadecimal; empty for a row that was added."""


def note_of(alterations: Sequence[Alteration]) -> str:
    """Return the sentence for every report of an altered race; empty without alterations.

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


def the_one(prefix: str, ids: Sequence[str], names: Mapping[str, str] | None = None) -> str:
    """Return the only one of ``ids`` (newest first) that starts with ``prefix``, in any case.

    ``names`` maps pretty names to ids: one of them, written out, is as good.

    >>> the_one('4X', ['4xk20z0000000', '9a00000000000'])
    '4xk20z0000000'
    """
    wanted = prefix.strip().lower()
    if names and wanted in names:
        return names[wanted]
    if wanted in ids:
        return wanted
    matching = [race_id for race_id in ids if race_id.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if not ids:
        raise StoreError("no race is stored yet; make one with: stackrace run")
    if matching:
        raise StoreError(f"{len(matching)} ids begin with {prefix!r}; give more of it", detail=_id_list(matching))
    raise StoreError(
        f"no race's id begins with {prefix!r}; did you mean one of these?",
        detail=_id_list(_similar_ids(wanted, ids)),
    )


def _similar_ids(wanted: str, ids: Sequence[str]) -> Sequence[str]:
    heads = {race_id[: len(wanted)]: race_id for race_id in reversed(ids)}
    close = get_close_matches(wanted, heads, n=_NEAR)
    return [heads[head] for head in close] or ids


def _id_list(ids: Sequence[str]) -> str:
    shown = list(ids[:_NEAR])
    return "\n".join([*shown, f"and {len(ids) - _NEAR} more"] if len(ids) > _NEAR else shown)
