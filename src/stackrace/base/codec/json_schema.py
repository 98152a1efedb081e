"""JSON Schemas of readable documents, derived from the records: names, types, and what each field's docstring says.

For those who build Stackrace: it reads the model's sources. A published schema keeps by hand what is no record, and
its lists of required members: they are what the first document of that version had.
Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from enum import EnumType
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .readable import FLAT, LEFT_OUT, Form

__all__ = ["derived"]

_Schema = dict[str, Any]

_BY_HAND = ("minimum", "exclusiveMinimum", "maximum", "items")


def derived(published: Mapping[str, Any], records: Mapping[str, type], form: Form) -> _Schema:
    """Return the schema ``published`` with the members of ``records`` as they are now.

    ``records`` are named by their definition; the empty name is the document itself.
    """
    schema = {**published, "$defs": dict(published["$defs"])}
    names = {kind: name for name, kind in records.items()}
    for name, kind in records.items():
        former = schema["$defs"].get(name, {}) if name else schema
        properties = dict(former.get("properties", {}))
        for member, shape in _members(kind, form, names).items():
            properties[member] = shape | _narrower(properties.get(member, {}))
        if name:
            about = {"description": _first_sentences(kind.__doc__ or ""), "type": "object"}
            schema["$defs"][name] = {
                **about,
                "additionalProperties": False,
                "required": [],
                **former,
                "properties": properties,
            }
        else:
            schema["properties"] = properties
    return schema


def _narrower(former: _Schema) -> _Schema:
    """Return what a member's schema says by hand about its values, beyond their type."""
    return {keyword: former[keyword] for keyword in _BY_HAND if keyword in former}


def _members(kind: type, form: Form, names: Mapping[type, str]) -> _Schema:
    hints, descriptions = get_type_hints(kind), _docstrings(kind)
    members: _Schema = {}
    for each in fields(kind):
        name = form.name_of(kind, each.name)
        if name == FLAT:
            members.update(_members(hints[each.name], form, names))
        elif name != LEFT_OUT:
            described = {"description": descriptions[each.name]} if each.name in descriptions else {}
            members[name] = {**described, **_shape(hints[each.name], each, form, names)}
    return members


def _shape(kind: Any, field: Field[Any], form: Form, names: Mapping[type, str]) -> _Schema:
    """Return what JSON holds for ``kind``, within the record's ``field``."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _nullable(_shape(parts[0], field, form, names))
    if origin is Literal:
        return {"const": parts[0]}
    if kind in names:
        return {"$ref": f"#/$defs/{names[kind]}"}
    if kind is int or kind is float:
        return _number(kind, field, form)
    if isinstance(kind, EnumType):
        return {"enum": [str(kind[name].value) for name in kind.__members__]}
    if origin in (tuple, frozenset):
        return {"type": "array", "items": _shape(parts[0], field, form, names)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _shape(parts[1], field, form, names)}
    if is_dataclass(kind):
        members = _members(kind, form, names)  # type: ignore[arg-type]
        return {"type": "object", "additionalProperties": False, "required": list(members), "properties": members}
    if kind is bytes:
        return {"type": "string", "contentEncoding": "base64"}
    return {"type": "boolean" if kind is bool else "string"}


def _number(kind: type, field: Field[Any], form: Form) -> _Schema:
    bounds = {} if field.metadata.get("signed") else {"minimum": 0}
    if kind is int:
        return {"type": "integer", **bounds}
    sure = form.finite and not field.metadata.get("undefined")
    return {"type": "number" if sure else ["number", "null"], **bounds}


def _nullable(shape: _Schema) -> _Schema:
    if isinstance(shape.get("type"), str):
        return {**shape, "type": [shape["type"], "null"]}
    return shape if isinstance(shape.get("type"), list) else {"anyOf": [shape, {"type": "null"}]}


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of ``kind`` and of the records it extends."""
    docstrings: dict[str, str] = {}
    for base in reversed([base for base in kind.__mro__ if is_dataclass(base)]):
        (definition,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                docstrings[ast.unparse(field.target)] = _first_sentences(str(ast.literal_eval(below.value)))
    return docstrings


def _first_sentences(docstring: str) -> str:
    return " ".join(docstring.partition("\n\n")[0].split())
