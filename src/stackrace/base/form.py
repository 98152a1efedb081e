"""Forms of documents: names and values of the members of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LEFT_OUT = ""
"""Name of a member that a document leaves out."""
FLAT = "*"
"""Name of a record whose members are merged into the record that contains it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """Differences between a kind of documents and the records that it represents."""

    record: type | None = None
    """Record of the whole document, if a schema describes it."""
    name: str = ""
    """Name of the document with its version, as ``race-2``."""
    names: Mapping[type, Mapping[str, str]] = field(default_factory=dict)
    """Names of members that differ from those of their fields, by record; ``LEFT_OUT`` and ``FLAT`` are special.
    A property that has a name is a member, too.
    """
    shown: Mapping[type, Callable[[Any], Any]] = field(default_factory=dict)
    """Functions by type; a record of the type is written as the function's result, which is annotated."""
    in_sets: Mapping[str, str] = field(default_factory=dict)
    """Texts that are written in place of elements of sets."""
    finite: bool = False
    """True if all floats are finite, except those that are declared undefined."""
    exact: bool = False
    """True if the document can be decoded: no value is lost, and missing members take their defaults."""

    def name_of(self, record: type, member: str) -> str:
        """Return the name in documents of the field ``member`` of ``record``, given for it or one of its bases."""
        given = (self.names[kind][member] for kind in record.__mro__ if member in self.names.get(kind, ()))
        return next(given, member)

    def properties(self, record: type) -> Iterator[tuple[str, str, Any]]:
        """Yield the properties of ``record`` that are members, too: name, name in documents, and function."""
        for name, given in self.names.get(record, {}).items():
            if isinstance(held := getattr(record, name, None), property):
                yield name, given, held.fget


STORED = Form(exact=True)
"""Form of stored and published documents."""
