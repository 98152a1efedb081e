"""Records become documents and come back, whole or for people's programs; paths and texts in them change."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import make_race

from stackrace.base.codec import FLAT, LEFT_OUT, Form, decode, encode, map_paths, readable, schema_text
from stackrace.base.text import legible, storable
from stackrace.measure.launch import FailureKind
from stackrace.measure.load import Counts, Load, Quantiles
from stackrace.race.results.race import Race
from stackrace.stats.values import Question


def travelled(value):
    return json.loads(json.dumps(encode(value), allow_nan=False))


def test_a_whole_race_comes_back_equal():
    race = make_race()
    assert decode(Race, travelled(race)) == race


@given(st.integers(-(2**200), 2**200))
def test_any_whole_number_comes_back_even_through_javascript(number):
    sent = encode(number)
    if isinstance(sent, int):
        assert float(sent) == sent and abs(sent) < 2**53
    assert decode(int, json.loads(json.dumps(sent))) == number


@given(st.floats())
def test_any_float_comes_back(value):
    back = decode(float, travelled(value))
    assert back == value or (math.isnan(back) and math.isnan(value))


@given(st.text(st.characters()))
def test_any_text_comes_back_and_is_fit_for_any_json_reader(text):
    sent = encode(text)
    sent.encode("utf-8")
    assert "\0" not in sent
    assert decode(str, sent) == text


def test_what_is_at_its_default_is_left_out():
    assert encode(Load(concurrency=5)) == {"concurrency": 5}


@pytest.mark.parametrize(
    ("kind", "document", "complaint"),
    [
        (Load, [], "it is list, not dict"),
        (Load, {}, "lacks 'concurrency'"),
        (Load, {"concurrency": 1, "speed": 2}, "unknown field 'speed'"),
        (Load, {"concurrency": True}, "concurrency is no whole number"),
        (Load, {"concurrency": 1.5}, "concurrency is no whole number"),
        (Load, {"concurrency": float("inf")}, "concurrency is no whole number"),
        (Load, {"concurrency": "9" * 5000}, "concurrency is no whole number"),
        (Load, {"concurrency": "٣"}, "concurrency is no whole number"),
        (Load, {"concurrency": 1, "timeout_s": "fast"}, "timeout_s is no number"),
        (Load, {"concurrency": 1, "timeout_s": 10**400}, "timeout_s is no number"),
        (Load, {"concurrency": 1, "keep_alive": 1}, "keep_alive is int, not bool"),
        (Question, "loser", "Input should be 'winner' or 'ranking'.*'loser'"),
        (bytes, "ä", "is no base64"),
        (Counts, {"failed": {"read": "x"}}, "lacks 'scheduled'"),
        (Quantiles, {**dict.fromkeys(("count", "mean", "p50", "p90", "p99", "p999", "max"), 0), "censored": [1]},
         r"censored\[0\] is int, not str"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_its_place(kind, document, complaint):
    with pytest.raises(ValueError, match=complaint):
        decode(kind, document)


def test_a_value_that_no_member_has_is_refused():
    assert encode(FailureKind.NOT_STARTED) == "not_started"
    with pytest.raises(ValueError, match=r"does not fit .*'not_started', .*'late'"):
        decode(FailureKind, "late")


class Kind(StrEnum):
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    folder: Path
    name: str = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    held: tuple[Held, ...]
    kind: Kind = Kind.PLAIN
    by_name: Mapping[str, Path | None] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()
    size: int = 3


HOLDER = Holder(held=(Held(folder=Path("a")),), by_name={"b": Path("b"), "c": None}, marks=frozenset({"d"}))


def test_every_path_and_every_text_is_reached_and_choices_stay():
    assert map_paths(HOLDER, path=lambda path: Path("/srv", path), text=str.upper) == Holder(
        held=(Held(folder=Path("/srv/a"), name="PLAIN"),),
        by_name={"B": Path("/srv/b"), "C": None},
        marks=frozenset({"D"}),
    )


def test_without_a_change_the_value_is_equal():
    assert map_paths(HOLDER) == HOLDER
    assert isinstance(map_paths(HOLDER).kind, Kind)


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
    record=Outer,
    name="outer-3",
    names={Inner: {"share": "part"}, Outer: {"hidden": LEFT_OUT, "flat": LEFT_OUT}},
    in_sets={"share": "part"},
)


def test_members_are_renamed_left_out_and_null_where_json_has_no_word():
    value = Outer(count=1, parts=(Inner(count=3),), limits={"p99": math.inf})
    assert readable(value, FORM) == {
        "count": 1, "part": None, "parts": [{"count": 3, "part": None}], "code": "AA==", "marks": ["part"],
        "limits": {"p99": None},
    }  # fmt: skip


def test_a_flat_record_stands_among_the_members_of_its_holder():
    form = Form(names={Outer: {"flat": FLAT, "count": LEFT_OUT, "share": LEFT_OUT}})
    assert readable(Outer(count=1), form)["count"] == 2


def test_a_schema_is_made_of_names_types_and_docstrings():
    schema = json.loads(schema_text(FORM))
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
    names = {Outer: {"flat": FLAT, "count": LEFT_OUT, "share": LEFT_OUT}}
    form = Form(record=Outer, name="outer-1", names=names)
    schema = json.loads(schema_text(form))
    jsonschema.validate(readable(Outer(count=1), form), schema)
    assert {"count", "share"} <= set(schema["required"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What has a size."""

    parts: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """All of it."""
        return sum(self.parts)


def test_a_property_that_has_a_name_is_a_member_too():
    form = Form(record=Sized, name="sized-1", names={Sized: {"size": "total"}})
    document, schema = readable(Sized(parts=(1, 2)), form), json.loads(schema_text(form))
    assert document == {"parts": [1, 2], "total": 3}
    assert schema["properties"]["total"] == {"description": "All of it.", "type": "integer", "minimum": 0}
    assert schema["required"] == ["parts", "total"]
    assert encode(Sized(parts=(1, 2))) == {"parts": [1, 2]}


@given(st.text(st.characters()))
def test_any_text_survives_storing(text):
    assert legible(storable(text)) == text


@given(st.text(st.characters()))
def test_stored_text_is_acceptable_to_every_database(text):
    stored = storable(text)
    assert "\0" not in stored
    assert stored.encode("utf-8").decode("utf-8") == stored


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\x1a")))
def test_ordinary_text_is_stored_as_it_is(text):
    assert storable(text) == text
