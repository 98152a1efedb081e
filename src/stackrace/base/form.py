"""Records as plain JSON values, in forms that differ in the names and values of members.

JSON has one kind of number, which readers in JavaScript store as a double: in the stored form, whole numbers
beyond 2^53 and floats that are not finite are written as texts. Bytes are base64. Source: RFC 8259, section 6.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from .text import kept, printable

LEFT_OUT = ""
"""Name of a member that a document leaves out."""
FLAT = "*"
"""Name of a record whose members are merged into the record that contains it."""

_EXACT = 2**53 - 1


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

    def members(self, record: Any) -> dict[str, str]:
        """Return the names in documents of the fields and properties of ``record`` that are members.

        The names of a record's bases hold for it, too.
        """
        names = {each.name: each.name for each in fields(record)}
        for base in reversed(record.__mro__):
            names |= self.names.get(base, {})
        return {name: given for name, given in names.items() if given != LEFT_OUT}


STORED = Form(exact=True)
"""Form of stored and published documents."""


def readable(record: object, form: Form) -> dict[str, Any]:
    """Return ``record``, a dataclass, as a document for other programs.

    The document cannot be decoded: members have the names of ``form``, numbers that are not finite are null.
    """
    document: dict[str, Any] = plain(record, form)
    return document


def plain(value: Any, form: Form) -> Any:
    """Return ``value``, a record or a part of one, as plain JSON values; TypeError if no record may contain it.

    A class with a method ``__stored__`` makes its own plain values.
    """
    match value:
        case None | bool():
            return value
        case Enum():
            return value.value
        case str() | Path():
            return kept(str(value)) if form.exact else printable(str(value))
        case int():
            return str(value) if form.exact and not -_EXACT <= value <= _EXACT else value
        case float():
            return value if math.isfinite(value) else str(value) if form.exact else None
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case tuple():
            return [plain(each, form) for each in value]
        case frozenset():
            return sorted(plain(form.in_sets.get(each, each), form) for each in value)
    if (shown := form.shown.get(type(value))) is not None:
        return plain(shown(value), form)
    if hasattr(value, "__stored__"):
        return value.__stored__()
    if is_dataclass(value):
        return _members(value, form)
    if isinstance(value, Mapping):
        return {str(plain(name, form)): plain(each, form) for name, each in value.items()}
    raise TypeError(f"{type(value)} is no type of a record")


def _members(record: Any, form: Form) -> dict[str, Any]:
    written: dict[str, Any] = {}
    kind: Any = type(record)
    for name, given, default in _described(kind, form):
        value = getattr(record, name)
        if value == default:
            continue
        if given == FLAT:
            written |= plain(value, form)
        else:
            written[given] = plain(value, form)
    return written


@cache
def _described(record: Any, form: Form) -> tuple[tuple[str, str, Any], ...]:
    """Return the members of ``record``: name, name in documents, and the value at which it is left out."""
    defaults = {each.name: _default(each) for each in fields(record)} if form.exact else {}
    return tuple((name, given, defaults.get(name, MISSING)) for name, given in form.members(record).items())


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default
