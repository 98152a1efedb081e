"""Schemas of pydantic's core that read stored documents, made from the annotations of records.

Every type is checked, for documents may come from other people. JSON's numbers are read without a call into Python.
"""

from __future__ import annotations

import base64
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import EnumType
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, core_schema

from .text import legible

_MOST_DIGITS = 400
"""Maximum of digits of a whole number: more than any seed has, and few enough to be read at once."""


@cache
def schema_of(kind: Any) -> CoreSchema:
    """Return the schema of ``kind``; raise TypeError for an unsupported type."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if hasattr(kind, "__get_pydantic_core_schema__"):
        given: CoreSchema = kind.__get_pydantic_core_schema__(kind, schema_of)
        return given
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, EnumType):
        return core_schema.enum_schema(kind, list(kind), sub_type="str")
    return _container(get_origin(kind), get_args(kind), kind)


def _read_int(value: object) -> int:
    # some servers write 2.0 for 2
    if isinstance(value, float) and value.is_integer():
        return int(value)
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
        return int(str(value))
    raise ValueError


def _read_float(value: object) -> float:
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    raise ValueError


def _number(json: CoreSchema, read: Callable[[object], float], message: str) -> CoreSchema:
    return core_schema.union_schema(
        [json, core_schema.no_info_plain_validator_function(read)],
        mode="left_to_right",
        custom_error_type="number",
        custom_error_message=message,
    )


def _text(read: Callable[[str], Any]) -> CoreSchema:
    return core_schema.no_info_after_validator_function(read, core_schema.str_schema(strict=True))


_LEAVES: dict[Any, CoreSchema] = {
    bool: core_schema.bool_schema(strict=True),
    int: _number(core_schema.int_schema(strict=True), _read_int, "is no whole number"),
    float: _number(core_schema.float_schema(strict=True), _read_float, "is no number"),
    str: _text(legible),
    Path: _text(lambda text: Path(legible(text))),
    bytes: _text(lambda text: base64.b64decode(text, validate=True)),
}


def _container(origin: Any, parts: tuple[Any, ...], kind: Any) -> CoreSchema:
    if origin in (Union, types.UnionType):
        return _union(parts)
    if origin is Literal:
        return core_schema.literal_schema(list(parts))
    if origin is tuple and parts[1:] == (Ellipsis,):
        return core_schema.tuple_schema([schema_of(parts[0])], variadic_item_index=0)
    if origin is tuple:
        return core_schema.tuple_schema(list(map(schema_of, parts)))
    if origin is frozenset:
        return core_schema.frozenset_schema(schema_of(parts[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return core_schema.dict_schema(schema_of(parts[0]), schema_of(parts[1]))
    raise TypeError(f"{kind} is no type of a record")


_KINDS: dict[Any, str] = {
    str: "text", Path: "text", bool: "truth", int: "whole", float: "number", list: "list", tuple: "list",
    dict: "object", Mapping: "object",
}  # fmt: skip
"""Kinds of values in JSON; a union may have one type of each kind."""


def _union(parts: tuple[Any, ...]) -> CoreSchema:
    rest = [part for part in parts if part is not types.NoneType]
    if len(rest) == 1:
        return core_schema.nullable_schema(schema_of(rest[0]))
    tagged = core_schema.tagged_union_schema(
        {_KINDS[get_origin(part) or part]: schema_of(part) for part in rest}, lambda value: _KINDS.get(type(value))
    )
    return core_schema.nullable_schema(tagged) if len(rest) < len(parts) else tagged


def _record(kind: Any) -> CoreSchema:
    hints = get_type_hints(kind)
    members = [
        core_schema.dataclass_field(each.name, _with_default(each, schema_of(hints[each.name])), kw_only=True)
        for each in fields(kind)
    ]
    return core_schema.dataclass_schema(
        kind,
        core_schema.dataclass_args_schema(kind.__name__, members),
        [each.name for each in fields(kind)],
        slots=True,
        frozen=True,
        config=core_schema.CoreConfig(extra_fields_behavior="forbid"),
    )


def _with_default(field: Field[Any], schema: CoreSchema) -> CoreSchema:
    if field.default is not MISSING:
        return core_schema.with_default_schema(schema, default=field.default)
    if field.default_factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=field.default_factory)
    return schema
