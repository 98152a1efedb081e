"""Values of the model travel as plain JSON and come back equal, checked on the way in."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import make_race

from stackrace.base.codec import decode, encode
from stackrace.measure.launch import FailureKind
from stackrace.measure.load import Counts, Load, Quantiles
from stackrace.race.results.race import Race
from stackrace.stats.values.question import Question


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
