"""Documents for readers: other names, nothing that JSON lacks; their schemas say what the records say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import jsonschema
import pytest

from stackrace.base.codec import FLAT, LEFT_OUT, Form, readable
from stackrace.base.codec.json_schema import json_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """What is inside."""

    count: int
    """How many."""
    share: float = field(default=math.nan, metadata={"undefined": True})
    """Of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer(Inner):
    """What is outside, too."""

    parts: tuple[Inner, ...] = ()
    flat: Inner = field(default_factory=lambda: Inner(count=2, share=0.5))
    hidden: str = ""
    code: bytes = b"\0"
    marks: frozenset[str] = frozenset({"share"})
    limits: Mapping[str, float] = field(default_factory=dict)


FORM = Form(
    names={Inner: {"share": "part"}, Outer: {"hidden": LEFT_OUT, "flat": LEFT_OUT}},
    in_sets={"share": "part"},
    text=str.upper,
)


def test_members_are_renamed_left_out_and_null_where_json_has_no_word():
    value = Outer(count=1, parts=(Inner(count=3),), limits={"p99": math.inf})
    assert readable(value, FORM) == {
        "count": 1, "part": None, "parts": [{"count": 3, "part": None}], "code": "AA==", "marks": ["PART"],
        "limits": {"P99": None},
    }  # fmt: skip


def test_a_flat_record_stands_among_the_members_of_its_holder():
    form = Form(names={Outer: {"flat": FLAT, "count": LEFT_OUT, "share": LEFT_OUT}})
    assert readable(Outer(count=1), form)["count"] == 2


def test_a_schema_is_made_of_names_types_and_docstrings():
    schema = json.loads(json_schema(Outer, FORM, "outer-3"))
    assert (schema["$id"], schema["description"]) == ("urn:stackrace:outer:3", "What is outside, too.")
    assert schema["properties"]["count"] == {"description": "How many.", "type": "integer", "minimum": 0}
    assert schema["properties"]["part"] == {"description": "Of all.", "type": ["number", "null"], "minimum": 0}
    assert schema["$defs"]["Inner"]["description"] == "What is inside."
    document = readable(Outer(count=1, parts=(Inner(count=3),)), FORM)
    jsonschema.validate(document, schema)
    for wrong in ({"count": -1}, {"parts": [{"part": 1}]}, {"surprise": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **wrong}, schema)


def test_members_of_a_flat_record_are_members_of_its_holder_in_the_schema():
    form = Form(names={Outer: {"flat": FLAT, "count": LEFT_OUT, "share": LEFT_OUT}})
    schema = json.loads(json_schema(Outer, form, "outer-1"))
    jsonschema.validate(readable(Outer(count=1), form), schema)
    assert {"count", "share"} <= set(schema["required"])
