"""Documents for readers: other names, nothing that JSON lacks; their schemas say what the records say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import jsonschema
import pytest

from stackrace.base.codec import FLAT, LEFT_OUT, Form, readable
from stackrace.base.codec.json_schema import derived


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
        "count": 1, "part": None, "parts": [{"count": 3, "part": None}], "code": "AA==", "marks": ["part"],
        "limits": {"P99": None},
    }  # fmt: skip


def test_a_flat_record_stands_among_the_members_of_its_holder():
    form = Form(names={Outer: {"flat": FLAT, "count": LEFT_OUT, "share": LEFT_OUT}})
    assert readable(Outer(count=1), form)["count"] == 2


def test_a_schema_is_derived_and_keeps_what_is_written_by_hand():
    published = {
        "type": "object",
        "additionalProperties": False,
        "required": ["count"],
        "properties": {"count": {"maximum": 5}, "by_hand": {"type": "null"}},
        "$defs": {"inner": {"description": "By hand.", "required": ["count"]}},
    }
    schema = derived(published, {"": Outer, "inner": Inner}, FORM)
    assert schema["properties"]["count"] == {
        "description": "How many.", "type": "integer", "minimum": 0, "maximum": 5
    }  # fmt: skip
    assert schema["properties"]["part"] == {"description": "Of all.", "type": ["number", "null"], "minimum": 0}
    assert schema["$defs"]["inner"]["description"] == "By hand."
    document = {**readable(Outer(count=1, parts=(Inner(count=3),)), FORM), "by_hand": None}
    jsonschema.validate(document, schema)
    assert derived(schema, {"": Outer, "inner": Inner}, FORM) == schema
    for wrong in ({"count": 6}, {"parts": [{"part": 1}]}, {"surprise": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **wrong}, schema)
