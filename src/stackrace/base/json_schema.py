"""JSON Schemas of documents, made from the records: their names, types and docstrings.

Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import ast
import inspect
import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import EnumType
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .form import FLAT, Form

_Shape = dict[str, Any]

_TYPES = {
    types.NoneType: "null", bool: "boolean", int: "integer", float: "number",
    str: "string", Path: "string", bytes: "string",
}  # fmt: skip


def schema_text(form: Form) -> str:
    """Return the JSON Schema of the documents in ``form``, as text that ends with a newline."""
    what, _, version = form.name.rpartition("-")
    shapes = _Shapes(form)
    document = shapes.of_record(form.record)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:stackrace:{what}:{version}",
        "title": f"Stackrace {what}, version {version}",
        "$defs": dict(sorted(shapes.definitions.items())),
        **document,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


class _Shapes:
    """Shapes of types in one form; a record that others contain is defined once."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._records: dict[str, type] = {}
        self.definitions: dict[str, _Shape] = {}

    def of_record(self, record: Any) -> _Shape:
        """Return the shape of ``record``, which has all its members and no others."""
        members = self._members(record)
        return {
            "description": _first_sentences(record.__doc__),
            "type": "object",
            "additionalProperties": False,
            "required": list(members),
            "properties": members,
        }

    def _members(self, record: Any) -> _Shape:
        members: _Shape = {}
        hints, texts = get_type_hints(record), docstrings(record)
        marks = {each.name: each.metadata for each in fields(record)}
        for name, given in self._form.members(record).items():
            if given == FLAT:
                members |= self._members(hints[name])
                continue
            if name in marks:
                shape, said = self._of(hints[name], marks[name]), texts.get(name)
            else:
                read = getattr(record, name).fget
                shape, said = self._of(get_type_hints(read)["return"], {}), _first_sentences(read.__doc__)
            members[given] = {"description": said, **shape} if said else shape
        return members

    def _of(self, kind: Any, marks: Mapping[str, Any]) -> _Shape:
        """Return the shape of ``kind`` in a field with ``marks``.

        A number may be negative in a field marked ``signed``, and unknown in one marked ``undefined``.
        """
        origin, parts = get_origin(kind), get_args(kind)
        if (shown := self._form.shown.get(kind)) is not None:
            return self._of(get_type_hints(shown)["return"], {})
        if is_dataclass(kind):
            return self._reference(kind)
        if isinstance(kind, EnumType):
            choices: Any = kind
            return {"enum": [member.value for member in choices]}
        if origin is Literal:
            chosen = {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
            return {"type": _TYPES[type(parts[0])], **chosen}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self._of(part, marks) for part in parts]}
        if origin is tuple and parts[1:] != (Ellipsis,):
            size = {"minItems": len(parts), "maxItems": len(parts)}
            return {"type": "array", "prefixItems": [self._of(part, marks) for part in parts], **size}
        if origin in (tuple, frozenset):
            unique = {"uniqueItems": True} if origin is frozenset else {}
            return {"type": "array", "items": self._of(parts[0], marks), **unique}
        if origin is not None:
            return {"type": "object", "additionalProperties": self._of(parts[1], marks)}
        shape: _Shape = {"type": _TYPES[kind]}
        if kind is float and (marks.get("undefined") or not self._form.finite):
            shape["type"] = ["number", "null"]
        if kind in (int, float) and not marks.get("signed"):
            shape["minimum"] = 0
        return shape | ({"contentEncoding": "base64"} if kind is bytes else {})

    def _reference(self, record: Any) -> _Shape:
        name = record.__name__
        if name not in self._records:
            self._records[name] = record
            self.definitions[name] = self.of_record(record)
        assert self._records[name] is record, f"two records are called {name}"
        return {"$ref": f"#/$defs/{name}"}


@cache
def docstrings(record: type) -> dict[str, str]:
    """Return the descriptions of the fields; classes made at run time have no source, but metadata."""
    said = {each.name: each.metadata["description"] for each in fields(record) if "description" in each.metadata}
    for base in reversed([base for base in record.__mro__ if is_dataclass(base) and base.__module__ != "types"]):
        (definition,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                said[ast.unparse(field.target)] = _first_sentences(str(ast.literal_eval(below.value)))
    return said


def _first_sentences(docstring: str | None) -> str:
    return " ".join((docstring or "").partition("\n\n")[0].split())
