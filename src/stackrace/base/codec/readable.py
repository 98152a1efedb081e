"""Records as people's programs read them: every member by a name that may differ from the field's, no way back."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any

__all__ = ["FLAT", "LEFT_OUT", "Form", "readable"]

LEFT_OUT = ""
"""The name of a member that a document does without."""
FLAT = "*"
"""The name of a record whose members stand among those of the record that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """In what a kind of documents differs from the records it writes down."""

    names: Mapping[type, Mapping[str, str]] = field(default_factory=dict)
    """The names of members that are not those of their fields, by record; ``LEFT_OUT`` and ``FLAT`` are special."""
    in_sets: Mapping[str, str] = field(default_factory=dict)
    """Other names for what stands in sets."""
    text: Callable[[str], str] = str
    """What is done to text."""
    finite: bool = False
    """Whether floats are finite but for those that are declared undefined."""

    def name_of(self, record: type, member: str) -> str:
        """Return the name of the field ``member`` of ``record``, or of the record it has it from."""
        given = (self.names[kind][member] for kind in record.__mro__ if member in self.names.get(kind, ()))
        return next(given, member)


def readable(value: object, form: Form) -> Any:
    """Return ``value``, a record or what one holds, as plain JSON values; numbers that are not finite are null."""
    match value:
        case StrEnum():
            return value.value
        case str():
            return form.text(value)
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case Mapping():
            return {form.text(key): readable(each, form) for key, each in value.items()}
        case frozenset():
            return sorted(form.in_sets.get(each, each) for each in value)
        case tuple():
            return [readable(each, form) for each in value]
    return _record(value, form) if is_dataclass(value) else value


def _record(value: Any, form: Form) -> dict[str, object]:
    document: dict[str, object] = {}
    for each in fields(value):
        name = form.name_of(type(value), each.name)
        if name == FLAT:
            document.update(readable(getattr(value, each.name), form))
        elif name != LEFT_OUT:
            document[name] = readable(getattr(value, each.name), form)
    return document
