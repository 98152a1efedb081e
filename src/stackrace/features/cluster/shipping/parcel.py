"""What is sent, as both ends know it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Interpreter", "Parcel", "Part", "Shipment"]


class Part(StrEnum):
    """What a parcel holds."""

    PROJECT = "project"
    ENVIRONMENT = "environment"
    DATA = "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One archive."""

    part: Part
    names: tuple[Path, ...]
    """The files, links and empty folders in it, by their absolute paths on the coordinator."""
    digest: str
    """SHA-256 of the archive, in hexadecimal: the same content has the same one everywhere."""
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What the app's virtual environment was made with; a host needs the same kind."""

    home: Path
    """The environment's folder."""
    names: tuple[str, ...]
    """How the interpreter is called in its ``bin``: ``python``, ``python3``…"""
    base: Path
    """The interpreter itself, outside of the environment."""
    version: str
    """``3.12``."""
    suffix: str
    """How its extension modules end, which says version, processor and C library: ``.cpython-312-x86_64-…``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """All that one race needs of the coordinator's machine."""

    top: Path
    """The project's uppermost folder."""
    parcels: tuple[Parcel, ...]
    roots: Mapping[str, Path]
    """What was packed, folders and single files, by every path under which the user may know it."""
    homes: tuple[Path, ...] = ()
    """The folders and files that the environment consists of."""
    interpreter: Interpreter | None = None
    """None where no virtual environment is sent."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """What was packed, by its own path, each once."""
        return tuple(dict.fromkeys(self.roots.values()))

    @property
    def slot(self) -> str:
        """Names this project's place on hosts. It stays when files change: what was built for it stays, too."""
        named = "\0".join(map(str, (self.top, *self.homes)))
        return hashlib.sha256(os.fsencode(named)).hexdigest()[:16]

    def parcel(self, part: Part) -> Parcel | None:
        """Return the parcel of ``part``, None where there is nothing of it."""
        return next((parcel for parcel in self.parcels if parcel.part is part), None)
