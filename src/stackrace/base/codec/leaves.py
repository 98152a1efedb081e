"""The leaves of a record: how text, numbers and bytes travel through JSON, and how they come back.

JSON has one kind of number, which readers in JavaScript hold as a double: whole numbers beyond 2^53 and floats that
are not finite travel as strings. Bytes travel in base64. Source: RFC 8259, section 6.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

from pydantic_core import CoreSchema, core_schema

from ..text import legible, storable

__all__ = ["LEAVES"]

_EXACT = 2**53 - 1
_MOST_DIGITS = 400
"""Most digits of a whole number: more than any seed has, and few enough to be read at once."""


def _written_int(value: int) -> int | str:
    return value if -_EXACT <= value <= _EXACT else str(value)


def _read_int(value: object) -> int:
    # some servers write 2.0 for 2
    if isinstance(value, float) and value.is_integer():
        return int(value)
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
        return int(str(value))
    raise ValueError


def _written_float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _read_float(value: object) -> float:
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    raise ValueError


def _written_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _read_bytes(value: str) -> bytes:
    return base64.b64decode(value, validate=True)


def _writes(function: Callable[[Any], Any]) -> core_schema.PlainSerializerFunctionSerSchema:
    return core_schema.plain_serializer_function_ser_schema(function, when_used="json")


def _number(strict: CoreSchema, read: Callable[[Any], Any], written: Callable[[Any], Any], name: str) -> CoreSchema:
    """Return the schema of numbers; those that JSON has are read without a call into Python."""
    return core_schema.union_schema(
        [strict, core_schema.no_info_plain_validator_function(read)],
        mode="left_to_right",
        custom_error_type="number",
        custom_error_message=f"is no {name}",
        serialization=_writes(written),
    )


LEAVES: dict[type, CoreSchema] = {
    bool: core_schema.bool_schema(strict=True),
    int: _number(core_schema.int_schema(strict=True), _read_int, _written_int, "whole number"),
    float: _number(core_schema.float_schema(strict=True), _read_float, _written_float, "number"),
    str: core_schema.no_info_after_validator_function(
        legible, core_schema.str_schema(strict=True), serialization=_writes(storable)
    ),
    bytes: core_schema.no_info_after_validator_function(
        _read_bytes, core_schema.str_schema(strict=True), serialization=_writes(_written_bytes)
    ),
}
"""What pydantic does with each kind of leaf."""
