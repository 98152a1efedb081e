"""Finds every server: the folders here, and whatever outside packages offer as ``stackrace.servers``."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from ..model.errors import InputError
from ..model.stack import ServerSpec
from .contract import Entry, Guest, Server
from .gone import GONE

__all__ = ["Catalogue", "catalogue"]

ENTRY_POINT_GROUP = "stackrace.servers"
_GONE = {gone.name: ServerSpec(name=gone.name, title=gone.name, gone=gone.sentence) for gone in GONE}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All entries by name, in alphabetical order."""

    entries: Mapping[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    @property
    def specs(self) -> dict[str, ServerSpec]:
        """What the grammar of stacks needs to know, by server name; of what is gone, why it refuses it."""
        return {**_GONE, **{name: entry.spec for name, entry in self.entries.items()}}

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


@cache
def catalogue() -> Catalogue:
    """Load the catalogue once; raises InputError for an outside entry that is none."""
    found = {entry.spec.name: entry for entry in [*_own(), *_outside()]}
    return Catalogue(dict(sorted(found.items())))


def _own() -> Iterator[Entry]:
    for module in pkgutil.iter_modules(import_module("stackrace.servers").__path__):
        if module.ispkg:
            yield import_module(f"stackrace.servers.{module.name}.server").SERVER


def _outside() -> Iterator[Entry]:
    for point in entry_points(group=ENTRY_POINT_GROUP):
        entry = point.load()
        if not isinstance(entry, Entry):
            raise InputError(
                f"entry point {point.name!r} of group {ENTRY_POINT_GROUP} is no server: "
                "it must name an instance of stackrace.servers.Server or Guest"
            )
        yield entry
