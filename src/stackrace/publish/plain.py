"""Values of the model to plain JSON and back, led by their own annotations.

What comes back was written by others, so every type is checked on the way in. JSON has one kind of number, which
readers in JavaScript hold as a double: whole numbers beyond 2^53 and floats that are not finite travel as strings.
Fields at their default are left out, so that a field which a later version adds does not alter what was published.
Source: RFC 8259, section 6.
"""

from __future__ import annotations

import base64
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..model.text import legible, storable

__all__ = ["built", "plain"]

_EXACT = 2**53 - 1
_DIGITS_AT_MOST = 400
"""Of a whole number: more than any seed has, and few enough to be read at once."""


def plain(value: object) -> Any:
    """Return ``value`` (a dataclass, or what one holds) as JSON knows it."""
    match value:
        case StrEnum():
            return value.value
        case None | bool():
            return value
        case str():
            return storable(value)
        case int():
            return value if abs(value) <= _EXACT else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case Mapping():
            return {storable(key): plain(each) for key, each in value.items()}
        case frozenset():
            return sorted(plain(each) for each in value)
        case tuple():
            return [plain(each) for each in value]
    if is_dataclass(value):
        held = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: plain(each) for field, each in held if not _is_default(field, each)}
    raise TypeError(f"{type(value).__name__} has no plain form")


def _is_default(field: Field[Any], value: object) -> bool:
    made = field.default if field.default_factory is MISSING else field.default_factory()
    return made is not MISSING and bool(made == value)


def built(kind: Any, document: object, where: str = "") -> Any:
    """Return the value of type ``kind`` that ``document`` describes; undoes ``plain``.

    What ``document`` lacks takes its default. Raises ValueError naming the place of whatever does not fit.
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if document is None else built(get_args(kind)[0], document, where)
    if origin is not None:
        return _container(origin, get_args(kind), document, where)
    if is_dataclass(kind):
        return _dataclass(kind, document, where)
    return _scalar(kind, document, where)


def _dataclass(kind: Any, document: object, where: str) -> Any:
    given = _typed(document, dict, where)
    hints = _hints(kind)
    if unknown := sorted(set(given) - set(hints)):
        raise ValueError(f"{where or 'it'} has an unknown field {unknown[0]!r}")
    for field in fields(kind):
        if field.name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{where or 'it'} lacks {field.name!r}")
    return kind(**{name: built(hints[name], each, f"{where}.{name}".lstrip(".")) for name, each in given.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _container(origin: Any, parts: tuple[Any, ...], document: object, where: str) -> Any:
    if issubclass(origin, Mapping):
        given = _typed(document, dict, where)
        return {legible(key): built(parts[1], each, f"{where}.{key}") for key, each in given.items()}
    items = [built(parts[0], each, f"{where}[{place}]") for place, each in enumerate(_typed(document, list, where))]
    if origin is frozenset:
        return frozenset(items)
    if origin is tuple and parts[1:] == (Ellipsis,):
        return tuple(items)
    raise TypeError(f"{origin} is not a container of the model")


def _scalar(kind: Any, document: object, where: str) -> Any:
    if kind is float:
        return _float(document, where)
    if kind is int:
        return _int(document, where)
    if kind is bool:
        return _typed(document, bool, where)
    text = _typed(document, str, where)
    try:
        if kind is bytes:
            return base64.b64decode(text, validate=True)
        return legible(text) if kind is str else kind(legible(text))
    except ValueError as error:
        raise ValueError(f"{where} is no {kind.__name__}: {text[:40]!r}") from error


def _typed(document: object, kind: Any, where: str) -> Any:
    if not isinstance(document, kind):
        raise ValueError(f"{where or 'it'} is {type(document).__name__}, not {kind.__name__}")
    return document


def _float(document: object, where: str) -> float:
    if document in ("nan", "inf", "-inf"):
        return float(str(document))
    if isinstance(document, bool) or not isinstance(document, (int, float)):
        raise ValueError(f"{where} is no number: {str(document)[:40]!r}")
    try:
        return float(document)
    except OverflowError as error:
        raise ValueError(f"{where} is beyond all floats") from error


def _int(document: object, where: str) -> int:
    if isinstance(document, int) and not isinstance(document, bool):
        return document
    # some servers write 2.0 for 2
    if isinstance(document, float) and document.is_integer():
        return int(document)
    digits = document.removeprefix("-") if isinstance(document, str) else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS_AT_MOST:
        return int(str(document))
    raise ValueError(f"{where} is no whole number: {str(document)[:40]!r}")
