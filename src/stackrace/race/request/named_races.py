"""Races that have a name instead of a file, as features know them: ``historic/NAME``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ...extensions import NamedRaces, declared, load


class Source(Protocol):
    """Who knows such races; whole ones may be made of several, each with a race file of its own."""

    def names(self) -> tuple[str, ...]:
        """Return what can be run as a whole."""

    def is_whole(self, asked: str | Path) -> bool:
        """Tell whether ``asked`` is one of them; InputError for a name that is unknown."""

    def file_of(self, asked: Path) -> Path | None:
        """Return the race file of a part by its name; None for anything else, InputError for an unknown part."""

    def files_of(self, asked: str | Path) -> tuple[Path, ...]:
        """Return the race files of a whole."""

    def run(self, asked: Path, given: Mapping[str, Any], output: Any, *, quick: bool) -> None:
        """Race a whole and show it; ``given`` are the flags on the command line, by parameter."""

    def show(self, asked: str, store_url: str | None, form: str | None, html: Path | None) -> None:
        """Show the last run of a whole again."""


def source_of(asked: str | Path) -> Source | None:
    """Return who knows ``asked`` as the name of a whole; InputError for one that is unknown to its source."""
    for races in _called(asked):
        source: Source = load(races.place)
        if source.is_whole(asked):
            return source
    return None


def file_of(asked: Path) -> Path:
    """Return the race file that ``asked`` names, itself where it is no name; InputError for an unknown part."""
    files = (load(races.place).file_of(asked) for races in _called(asked))
    return next((file for file in files if file is not None), asked)


def known_names() -> tuple[str, ...]:
    """Return what can be run by a name, as a whole."""
    return tuple(name for races in declared(NamedRaces) for name in load(races.place).names())


def may_be_named(asked: str | Path) -> bool:
    """Tell whether ``asked`` begins as such a name does."""
    return bool(_called(asked))


def _called(asked: str | Path) -> list[NamedRaces]:
    return [races for races in declared(NamedRaces) if str(asked).startswith(races.prefix)]
