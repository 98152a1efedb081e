"""Races that features know by a name instead of a file: ``historic/NAME``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ...extensions import NamedRaces, declared, load


class Source(Protocol):
    """A feature's named races; a whole race may consist of several parts, each with its own race file."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all whole races."""

    def is_whole(self, asked: str | Path) -> bool:
        """Return True if ``asked`` names a whole race. Raises InputError for an unknown name."""

    def file_of(self, asked: Path) -> Path | None:
        """Return the race file of the part named ``asked``; None for any other path. Raises InputError for an
        unknown part."""

    def files_of(self, asked: str | Path) -> tuple[Path, ...]:
        """Return the race files of a whole race."""

    def run(self, asked: Path, given: Mapping[str, Any], output: Any, *, quick: bool) -> None:
        """Run a whole race and show its result; ``given`` holds the command-line flags by parameter name."""

    def show(self, asked: str, store_url: str | None, form: str | None, html: Path | None) -> None:
        """Show the last run of a whole race again."""


def source_of(asked: str | Path) -> Source | None:
    """Return the source of the whole race named ``asked``; None for any other path. Raises InputError for an
    unknown name."""
    for races in _called(asked):
        source: Source = load(races.import_path)
        if source.is_whole(asked):
            return source
    return None


def file_of(asked: Path) -> Path:
    """Return the race file of the part named ``asked``; any other path is returned as given. Raises InputError for
    an unknown part."""
    files = (load(races.import_path).file_of(asked) for races in _called(asked))
    return next((file for file in files if file is not None), asked)


def known_names() -> tuple[str, ...]:
    """Return the names of all whole races."""
    return tuple(name for races in declared(NamedRaces) for name in load(races.import_path).names())


def may_be_named(asked: str | Path) -> bool:
    """Return True if ``asked`` starts with a feature's prefix for named races, such as ``historic/``."""
    return bool(_called(asked))


def _called(asked: str | Path) -> list[NamedRaces]:
    return [races for races in declared(NamedRaces) if str(asked).startswith(races.prefix)]
