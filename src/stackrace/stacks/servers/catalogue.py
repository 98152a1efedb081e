"""The catalogue of all servers: the folders here, and those of installed packages or of a user's folder."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from ...base.errors import InputError
from ..stack import ServerSpec
from .contract import Entry, Guest, Server
from .outside import in_folder, in_packages


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All entries by name, in alphabetical order."""

    entries: Mapping[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    @property
    def specs(self) -> dict[str, ServerSpec]:
        """Specs for the grammar of stacks, by server name."""
        return {name: entry.spec for name, entry in self.entries.items()}

    def server(self, name: str) -> Server:
        """Return the server called ``name``, which must be a process of its own."""
        entry = self.entries[name]
        assert isinstance(entry, Server), name
        return entry

    def guest(self, name: str) -> Guest:
        """Return the guest called ``name``."""
        entry = self.entries[name]
        assert isinstance(entry, Guest), name
        return entry

    def extended(self, folder: Path | None) -> Catalogue:
        """Return this catalogue plus the servers in ``folder``; unchanged if ``folder`` is None.

        Raises InputError with file and line if a server there is invalid or has the name of another.
        """
        return self if folder is None else _joined((*self, *in_folder(folder)))


@cache
def catalogue() -> Catalogue:
    """Return the catalogue, loaded once; raises InputError for an invalid outside entry."""
    return _joined((*_own(), *in_packages()))


def _own() -> Iterator[Entry]:
    for file in Path(__file__).parent.glob("*/server.py"):
        yield import_module(f"{__package__}.{file.parent.name}.server").SERVER


def _joined(entries: Iterable[Entry]) -> Catalogue:
    by_name: dict[str, Entry] = {}
    for entry in entries:
        name = entry.spec.name
        if name in by_name:
            raise InputError(
                f"two servers are called {name!r}: {_place(by_name[name])} and {_place(entry)}; "
                "give one of them another name in its spec"
            )
        by_name[name] = entry
    return Catalogue(dict(sorted(by_name.items())))


def _place(entry: Entry) -> str:
    return inspect.getfile(type(entry))
