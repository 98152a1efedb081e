"""What a kind of documents is: how it names and writes the members of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LEFT_OUT = ""
"""The name of a member that a document does without."""
FLAT = "*"
"""The name of a record whose members stand among those of the record that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """In what a kind of documents differs from the records it writes down."""

    record: type | None = None
    """The whole document, where a schema describes it."""
    name: str = ""
    """The document's name with its version, as ``race-2``."""
    names: Mapping[type, Mapping[str, str]] = field(default_factory=dict)
    """The names of members that are not those of their fields, by record; ``LEFT_OUT`` and ``FLAT`` are special.
    A property that has a name is a member, too."""
    shown: Mapping[type, Callable[[Any], Any]] = field(default_factory=dict)
    """What is written down in place of records of a type: what a function returns, as it is annotated."""
    in_sets: Mapping[str, str] = field(default_factory=dict)
    """Other names for what stands in sets."""
    finite: bool = False
    """Whether floats are finite but for those that are declared undefined."""
    exact: bool = False
    """Whether the document is read again: every value comes back, and what it lacks takes its default."""

    def name_of(self, record: type, member: str) -> str:
        """Return the name of the field ``member`` of ``record``, or of the record it has it from."""
        given = (self.names[kind][member] for kind in record.__mro__ if member in self.names.get(kind, ()))
        return next(given, member)

    def properties(self, record: type) -> Iterator[tuple[str, str, Any]]:
        """Yield the properties of ``record`` that are members, too: each with its name here and its function."""
        for name, given in self.names.get(record, {}).items():
            if isinstance(held := getattr(record, name, None), property):
                yield name, given, held.fget


STORED = Form(exact=True)
"""What is stored and published."""
