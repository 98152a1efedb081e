"""A type of the model as a schema of pydantic's core: what each annotation means."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import EnumType
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, core_schema

from .leaves import LEAVES

__all__ = ["schema_of"]


@cache
def schema_of(kind: Any) -> CoreSchema:
    """Return the schema of ``kind``; raises TypeError for what no record of the model holds."""
    if kind in LEAVES:
        return LEAVES[kind]
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, EnumType):
        return core_schema.enum_schema(kind, list(kind), sub_type="str")
    return _container(get_origin(kind), get_args(kind), kind)


def _container(origin: Any, parts: tuple[Any, ...], kind: Any) -> CoreSchema:
    if origin in (Union, types.UnionType) and len(parts) == 2 and parts[1] is types.NoneType:
        return core_schema.nullable_schema(schema_of(parts[0]))
    if origin in (Union, types.UnionType):
        choices = {_FORMS[get_origin(part) or part]: schema_of(part) for part in parts}
        return core_schema.tagged_union_schema(choices, _form)
    if origin is tuple and parts[1:] == (Ellipsis,):
        return core_schema.tuple_schema([schema_of(parts[0])], variadic_item_index=0)
    if origin is tuple:
        return core_schema.tuple_schema([schema_of(part) for part in parts])
    if origin is frozenset:
        written = core_schema.wrap_serializer_function_ser_schema(_sorted, when_used="json")
        return core_schema.frozenset_schema(schema_of(parts[0]), serialization=written)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return core_schema.dict_schema(schema_of(parts[0]), schema_of(parts[1]))
    raise TypeError(f"{kind} is no type of a record")


_FORMS: dict[Any, str] = {str: "text", int: "whole", float: "number", tuple: "list", Mapping: "object"}
"""The kinds of which a union may hold one each; JSON tells them apart."""


def _form(value: object) -> str | None:
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping) else _FORMS.get(type(value))


def _sorted(value: frozenset[Any], written: Any) -> list[Any]:
    return sorted(written(value))


def _record(kind: Any) -> CoreSchema:
    hints = get_type_hints(kind)
    members = [
        core_schema.dataclass_field(field.name, _with_default(field, schema_of(hints[field.name])), kw_only=True)
        for field in fields(kind)
    ]
    return core_schema.dataclass_schema(
        kind,
        core_schema.dataclass_args_schema(kind.__name__, members),
        [field.name for field in fields(kind)],
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
