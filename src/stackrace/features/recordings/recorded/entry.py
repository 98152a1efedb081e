"""The fields of a HAR entry. Source: HTTP Archive 1.2; fields with an underscore are exporters'.

Exporters disagree about what is optional, null, a number or a string, and some write text that is no valid string.
So a field is read only when asked for: what cannot be read is not there. Numbers come as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .skip import LeftOut, Skip

Fields = Mapping[str, object]
Pairs = Sequence[tuple[str, str]]


def fields(value: object) -> Fields:
    """Return an object's fields, of null none; anything else makes the entry unreadable."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LeftOut(Skip.UNREADABLE)
    return value


def text(value: object) -> str | None:
    """Return a string, or a number as it is written; None for anything else, and for half a surrogate pair."""
    if not isinstance(value, str):
        return None
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return value


def number(value: object) -> float | None:
    """Return a finite number, or what a string holds."""
    written = text(value)
    if written is None or "_" in written:
        return None
    try:
        value_read = float(written)
    except ValueError:
        return None
    return value_read if math.isfinite(value_read) else None


def pairs(value: object) -> Pairs:
    """Return names with their values, as headers and forms are listed; unreadable ones are passed over."""
    if not isinstance(value, list) or not all(isinstance(pair, dict) for pair in value):
        return ()
    read = ((text(pair.get("name")), text(pair.get("value"))) for pair in value)
    return tuple((name, content) for name, content in read if name is not None and content is not None)
