"""A rerun as it is kept: which races it is made of. Everything else is worked out again from them.

One small JSON document each, in a folder beside the results; format ``stackrace-rerun``, version 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...base import ids
from ...base.errors import StoreError, said_by
from ...deploy.privileges import private_folder
from .rerun import Mode, PartOutcome

__all__ = ["Kept", "keep", "latest"]

_FORMAT = "stackrace-rerun"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A rerun of the comparison ``name``: each part with its race's id, or the trouble it met."""

    id: str
    name: str
    made_at: str
    number: int = field(default=0, compare=False)
    """Grows with each that is kept here."""
    mode: Mode
    parts: tuple[PartOutcome, ...]


def keep(kept: Kept, folder: Path) -> Path:
    """Write ``kept`` into ``folder`` and return its file; raises StoreError when it cannot be written."""
    path = folder / f"{kept.name}-{kept.id}.json"
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "id": kept.id,
        "comparison": kept.name,
        "made_at": kept.made_at,
        "number": 1 + sum(1 for _ in folder.glob(f"{kept.name}-*.json")),
        "mode": kept.mode.value,
        "parts": [
            {"part": part.part, "race": part.race, "trouble": part.trouble, "left_out": list(part.left_out)}
            for part in kept.parts
        ],
    }
    try:
        private_folder(folder)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}; set XDG_DATA_HOME") from error
    return path


def latest(name: str, folder: Path) -> Kept:
    """Return the last rerun of ``name`` in ``folder``; raises StoreError when none is there, or readable."""
    files = sorted(folder.glob(f"{name}-*.json"))
    reruns = [_read(path) for path in files if ids.is_valid(path.stem.removeprefix(f"{name}-"))]
    if not reruns:
        raise StoreError(f"historic/{name} has not been run yet; start with: stackrace run historic/{name} --quick")
    # clocks are set back
    return max(reruns, key=lambda kept: (kept.number, kept.made_at))


def _read(path: Path) -> Kept:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT or document["version"] != _VERSION:
            raise StoreError(f"{path} was written by another version of stackrace; move it away")
        return Kept(
            id=str(document["id"]),
            name=str(document["comparison"]),
            made_at=str(document["made_at"]),
            number=int(document["number"]),
            mode=Mode(document["mode"]),
            parts=tuple(_part(part) for part in document["parts"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} cannot be read: {said_by(error)}; move it away") from error


def _part(document: Mapping[str, object]) -> PartOutcome:
    race, left_out = document["race"], document["left_out"]
    if not isinstance(left_out, list):
        raise ValueError("left_out is no list")
    return PartOutcome(
        part=str(document["part"]),
        race=None if race is None else str(race),
        trouble=str(document["trouble"]),
        left_out=tuple(str(sentence) for sentence in left_out),
    )
