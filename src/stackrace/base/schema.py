"""Schemas of pydantic's core for the model's types: the meaning of each annotation in a form of documents.

JSON has one kind of number, which readers in JavaScript store as a double: in an exact form, whole numbers
beyond 2^53 and floats that are not finite are written as strings. Bytes are base64. Source: RFC 8259, section 6.
"""

from __future__ import annotations

import base64
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import EnumType
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, core_schema

from .form import FLAT, LEFT_OUT, STORED, Form
from .text import kept, legible, printable

_EXACT = 2**53 - 1
_MOST_DIGITS = 400
"""Maximum of digits of a whole number: more than any seed has, and few enough to be read at once."""


@cache
def schema_of(kind: Any, form: Form = STORED, marks: frozenset[str] = frozenset()) -> CoreSchema:
    """Return the schema of ``kind`` within a field with ``marks``; raise TypeError for an unsupported type.

    A number may be negative in a field marked ``signed``, and unknown in one marked ``undefined``.
    """
    if kind in (bool, int, float, str, bytes, Path):
        return _stored_leaf(kind) if form.exact else _shown_leaf(kind, form, marks)
    if hasattr(kind, "__get_pydantic_core_schema__"):
        given: CoreSchema = kind.__get_pydantic_core_schema__(kind, schema_of)
        return given
    if (shown := form.shown.get(kind)) is not None:
        written = schema_of(get_type_hints(shown)["return"], form)
        serialization = core_schema.plain_serializer_function_ser_schema(shown, return_schema=written)
        return core_schema.any_schema(serialization=serialization)
    if is_dataclass(kind):
        return _record(kind, form)
    if isinstance(kind, EnumType):
        return core_schema.enum_schema(kind, list(kind), sub_type="str")
    return _container(get_origin(kind), get_args(kind), kind, lambda part: schema_of(part, form, marks), form)


def _writes(function: Callable[[Any], Any]) -> core_schema.PlainSerializerFunctionSerSchema:
    return core_schema.plain_serializer_function_ser_schema(function, when_used="json")


def _stored_leaf(kind: type) -> CoreSchema:
    """Return the schema of a strictly read value; JSON's numbers are read without a call into Python."""
    if kind is bool:
        return core_schema.bool_schema(strict=True)
    if kind is int or kind is float:
        whole = kind is int
        return core_schema.union_schema(
            [
                core_schema.int_schema(strict=True) if whole else core_schema.float_schema(strict=True),
                core_schema.no_info_plain_validator_function(_read_int if whole else _read_float),
            ],
            mode="left_to_right",
            custom_error_type="number",
            custom_error_message=f"is no {'whole number' if whole else 'number'}",
            serialization=_writes(_written_int if whole else _written_float),
        )
    read, written = _TEXTS[kind]
    text = core_schema.str_schema(strict=True)
    return core_schema.no_info_after_validator_function(read, text, serialization=_writes(written))


def _shown_leaf(kind: type, form: Form, marks: frozenset[str]) -> CoreSchema:
    """Return the schema of a value for other programs; numbers that are not finite are null."""
    least: dict[str, Any] = {} if "signed" in marks else {"minimum": 0}
    if kind is bool:
        return core_schema.bool_schema()
    if kind is int:
        return core_schema.int_schema(metadata={"pydantic_js_updates": least})
    if kind is float:
        shape = {"type": "number" if form.finite and "undefined" not in marks else ["number", "null"], **least}
        written = _writes(lambda value: value if math.isfinite(value) else None)
        return core_schema.float_schema(serialization=written, metadata={"pydantic_js_updates": shape})
    shape = {"contentEncoding": "base64"} if kind is bytes else {}
    written = _writes(_written_bytes if kind is bytes else lambda value: printable(str(value)))
    return core_schema.str_schema(serialization=written, metadata={"pydantic_js_updates": shape})


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


_TEXTS: dict[Any, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    str: (legible, kept),
    Path: (lambda text: Path(legible(text)), lambda path: kept(str(path))),
    bytes: (lambda text: base64.b64decode(text, validate=True), _written_bytes),
}
"""Functions that read and write types that are texts in JSON."""


def _container(
    origin: Any, parts: tuple[Any, ...], kind: Any, schema: Callable[[Any], CoreSchema], form: Form
) -> CoreSchema:
    if origin in (Union, types.UnionType):
        return _union(parts, schema)
    if origin is Literal:
        return core_schema.literal_schema(list(parts))
    if origin is tuple and parts[1:] == (Ellipsis,):
        return core_schema.tuple_schema([schema(parts[0])], variadic_item_index=0)
    if origin is tuple:
        return core_schema.tuple_schema([schema(part) for part in parts])
    if origin is frozenset:
        written = core_schema.wrap_serializer_function_ser_schema(_sorted(form.in_sets), when_used="json")
        return core_schema.frozenset_schema(schema(parts[0]), serialization=written)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return core_schema.dict_schema(schema(parts[0]), schema(parts[1]))
    raise TypeError(f"{kind} is no type of a record")


_KINDS: dict[Any, str] = {
    str: "text", Path: "text", bool: "truth", int: "whole", float: "number", tuple: "list", Mapping: "object"
}  # fmt: skip
"""Kinds of values in JSON; a union that is decoded may have one type of each kind."""


def _union(parts: tuple[Any, ...], schema: Callable[[Any], CoreSchema]) -> CoreSchema:
    if types.NoneType in parts:
        rest = tuple(part for part in parts if part is not types.NoneType)
        return core_schema.nullable_schema(schema(rest[0]) if len(rest) == 1 else _union(rest, schema))
    kinds = [get_origin(part) or part for part in parts]
    if not all(kind in _KINDS for kind in kinds):
        return core_schema.union_schema([schema(part) for part in parts])
    return core_schema.tagged_union_schema(
        {_KINDS[kind]: schema(part) for kind, part in zip(kinds, parts, strict=True)}, _kind_of
    )


def _kind_of(value: object) -> str | None:
    if isinstance(value, list | tuple):
        return "list"
    if isinstance(value, Path):
        return "text"
    return "object" if isinstance(value, Mapping) else _KINDS.get(type(value))


def _sorted(names: Mapping[str, str]) -> Callable[[frozenset[Any], Any], list[Any]]:
    return lambda value, written: sorted(written(frozenset(names.get(each, each) for each in value)))


def _record(kind: Any, form: Form) -> CoreSchema:
    hints = get_type_hints(kind)
    names = {field.name: form.name_of(kind, field.name) for field in fields(kind)}
    flat = frozenset(name for name, given in names.items() if given == FLAT)
    members = [_member(field, hints[field.name], names[field.name], form) for field in fields(kind)]
    computed = [
        core_schema.computed_field(name, schema_of(get_type_hints(read)["return"], form), alias=given)
        for name, given, read in form.properties(kind)
    ]
    return core_schema.dataclass_schema(
        kind,
        core_schema.dataclass_args_schema(kind.__name__, members, computed_fields=computed),
        list(names),
        slots=True,
        frozen=True,
        config=core_schema.CoreConfig(extra_fields_behavior="forbid"),
        serialization=core_schema.wrap_serializer_function_ser_schema(_flattened(flat)) if flat else None,
    )


def _member(field: Field[Any], kind: Any, name: str, form: Form) -> core_schema.DataclassField:
    marks = frozenset(mark for mark in ("signed", "undefined") if field.metadata.get(mark) and not form.exact)
    schema = core_schema.any_schema() if name == LEFT_OUT else schema_of(kind, form, marks)
    return core_schema.dataclass_field(
        field.name,
        _with_default(field, schema) if form.exact else schema,
        kw_only=True,
        serialization_alias=None if name in (FLAT, LEFT_OUT) else name,
        serialization_exclude=name == LEFT_OUT,
    )


def _flattened(flat: frozenset[str]) -> Callable[[Any, Any], dict[str, Any]]:
    """Return a function that merges the members of ``flat`` records into the record that contains them."""

    def write(record: Any, written: Any) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, value in written(record).items():
            members.update(value if name in flat else {name: value})
        return members

    return write


def _with_default(field: Field[Any], schema: CoreSchema) -> CoreSchema:
    if field.default is not MISSING:
        return core_schema.with_default_schema(schema, default=field.default)
    if field.default_factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=field.default_factory)
    return schema
