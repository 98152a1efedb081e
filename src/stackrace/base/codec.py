"""Conversion of the model's frozen dataclasses to plain JSON values and back, based on their annotations.

``encode`` and ``decode`` lose nothing; ``readable`` makes documents that other programs read. Documents to decode
may come from other people, so every type is checked. Pydantic's core is imported at the first ``decode``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .form import FLAT, LEFT_OUT, STORED, Form, plain, readable
from .json_schema import schema_text

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator, ValidationError

__all__ = [
    "FLAT", "LEFT_OUT", "Form", "decode", "dumps", "encode", "map_paths", "pretty", "readable", "schema_text",
]  # fmt: skip


def encode(value: object) -> Any:
    """Return ``value``, a dataclass or a part of one, as plain JSON values.

    Fields at their default are left out, so that a field which a later version adds does not change older
    documents.
    """
    return plain(value, STORED)


def decode(kind: Any, document: object, where: str = "") -> Any:
    """Return the value of type ``kind`` that ``document`` describes; undoes ``encode``.

    Missing members take their defaults. Raises ValueError that names the place, below ``where``, of the first
    member that does not fit.
    """
    from pydantic_core import ValidationError

    try:
        return _validator(kind).validate_python(document)
    except ValidationError as error:
        raise ValueError(_complaint(error, where)) from error


def dumps(document: object, *, sort_keys: bool = False) -> str:
    """Return ``document``, a result of ``encode``, as one line of ASCII; NaN and infinities are already strings."""
    return json.dumps(document, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)


def pretty(document: object) -> str:
    """Return ``document``, a result of ``readable``, as text that ends with a newline."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def _validator(kind: Any) -> SchemaValidator:
    from pydantic_core import SchemaValidator

    from .schema import schema_of

    return SchemaValidator(schema_of(kind))


_SHAPES = {"dataclass_type": "dict", "dict_type": "dict", "tuple_type": "list", "frozen_set_type": "list",
           "string_type": "str", "bool_type": "bool"}  # fmt: skip
"""JSON names of the types that were expected."""


def _complaint(error: ValidationError, where: str) -> str:
    """Return the first problem with its place: ``slices[0].index is no whole number: 'x'``."""
    first = error.errors(include_url=False)[0]
    kind, given, path = first["type"], first["input"], first["loc"]
    if kind == "missing":
        return f"{_place(where, path[:-1])} lacks {path[-1]!r}"
    place = _place(where, path)
    if kind == "unexpected_keyword_argument":
        return f"{_place(where, path[:-1])} has an unknown field {path[-1]!r}"
    if kind in _SHAPES:
        return f"{place} is {type(given).__name__}, not {_SHAPES[kind]}"
    if kind == "number":
        return f"{place} {first['msg']}: {str(given)[:40]!r}"
    if kind == "value_error":
        return f"{place} is no base64: {str(given)[:40]!r}"
    return f"{place} does not fit ({first['msg']}): {str(given)[:40]!r}"


def _place(where: str, path: tuple[int | str, ...]) -> str:
    for part in path:
        where += f"[{part}]" if isinstance(part, int) else f".{part}"
    return where.lstrip(".") or "it"


_T = TypeVar("_T")


def _same(value: Any) -> Any:
    return value


def map_paths(value: _T, path: Callable[[Path], Path] = _same, text: Callable[[str], str] = _same) -> _T:
    """Return ``value`` with each path and each text in it replaced by the result of ``path`` or ``text``.

    Dataclasses, tuples, sets and mappings, with their keys, are searched; enum members stay unchanged.

    >>> map_paths((Path("/srv/a"), "/srv/b"), text=lambda text: text.replace("/srv", ""))
    (PosixPath('/srv/a'), '/b')
    """

    def mapped(value: Any) -> Any:
        match value:
            case Enum():
                return value
            case str():
                return text(value)
            case Path():
                return path(value)
            case tuple():
                return tuple(map(mapped, value))
            case frozenset():
                return frozenset(map(mapped, value))
            case Mapping():
                return {mapped(name): mapped(each) for name, each in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: mapped(getattr(value, each.name)) for each in fields(value)})
        return value

    return cast(_T, mapped(value))
