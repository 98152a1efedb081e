"""JSON Schemas of documents, made from the records: their names, types and docstrings.

Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import ast
import inspect
import json
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic.json_schema import CoreRef, GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from .form import FLAT, LEFT_OUT, Form
from .schema import schema_of


def json_schema(kind: type, form: Form, name: str) -> str:
    """Return the schema of ``readable`` documents of ``kind`` in ``form``, as text that ends with a newline.

    ``name`` is the name of the document with its version, as ``race-2``.
    """
    shape = _Generator(form).generate(schema_of(kind, form), mode="serialization")
    what, _, version = name.rpartition("-")
    title = f"Stackrace {what}, version {version}"
    head = {"$schema": GenerateJsonSchema.schema_dialect, "$id": f"urn:stackrace:{what}:{version}", "title": title}
    return json.dumps({**head, **shape}, indent=2, ensure_ascii=False) + "\n"


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, with each record among the definitions and its docstrings as descriptions."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: titles would only repeat the names."""
        return False

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        """Return the choices only; the members that use them have the descriptions."""
        return {"enum": [member.value for member in schema["members"]]}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """Return a reference to the record, which is defined once."""
        kind = schema["cls"]
        name, reference = self.get_cache_defs_ref_schema(
            CoreRef(f"{kind.__module__}.{kind.__qualname__}:{id(kind)}")
        )
        if name not in self.definitions:
            self.definitions[name] = self._described(kind, super().dataclass_schema(schema))
        return reference

    def _described(self, kind: type, shape: JsonSchemaValue) -> JsonSchemaValue:
        docstrings = _docstrings(kind)
        members: JsonSchemaValue = {}
        required: list[str] = []
        for field in fields(kind):
            name = self._form.name_of(kind, field.name)
            if name == FLAT:
                held = self.definitions[self.json_to_defs_refs[shape["properties"][field.name]["$ref"]]]
                members.update(held["properties"])
                required += held["required"]
            elif name != LEFT_OUT:
                said = docstrings.get(field.name) or field.metadata.get("description")
                about = {"description": said} if said else {}
                members[name] = {**about, **shape["properties"][name]}
                required.append(name)
        for _, name, read in self._form.properties(kind):
            members[name] = {"description": _first_sentences(read.__doc__), **shape["properties"][name]}
            required.append(name)
        return {
            "description": _first_sentences(kind.__doc__ or ""),
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": members,
        }


@cache
def _docstrings(kind: type) -> dict[str, str]:
    docstrings: dict[str, str] = {}
    # classes made at run time have no source: their fields' metadata have the descriptions
    for base in reversed([base for base in kind.__mro__ if is_dataclass(base) and base.__module__ != "types"]):
        (definition,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                docstrings[ast.unparse(field.target)] = _first_sentences(str(ast.literal_eval(below.value)))
    return docstrings


def _first_sentences(docstring: str) -> str:
    return " ".join(docstring.partition("\n\n")[0].split())
