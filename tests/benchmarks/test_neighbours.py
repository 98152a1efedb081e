"""Races beside neighbours, on made-up results: what is false, what is due, and what the goals ask for."""

from __future__ import annotations

import json
import math

import pytest
from benchmarks.method._races import Ran
from benchmarks.method.neighbours import QUIET, Case, described, due, false_statements, judged, rows_held, truth_of
from tests.factories import make_race

from stackrace.report.document import document
from stackrace.report.merged_standing import standing_of

QUIETLY = Case(QUIET)
LOOPS = Case("two loops", True)
LOOPS_WITHOUT = Case("two loops", False)


def raced(case=QUIETLY, *, kind="best", stacks=("fast",), within=0.05, slow=(2, 0.5)):
    """A race of two stacks; ``slow`` is the tier of the slow one and its ratio, limits being 10 % away."""
    tier, ratio = slow
    result = {
        "settled": kind not in ("close", "undecided"),
        "answer": {"kind": kind, "stacks": list(stacks), "within": within},
        "words": {"answer": "made up"},
        "race": {"difference": 0.05},
        "warnings": {},
        "standing": [
            {"stack": "fast", "tier": 1 if tier else 2, "ratio": {"value": 1.0, "low": 1.0, "high": 1.0}},
            {
                "stack": "slow",
                "tier": tier or 1,
                "ratio": {"value": ratio, "low": ratio / 1.1, "high": ratio * 1.1},
            },
        ],
    }
    return described(case, Ran(code=0, document=result, message=""), 30.0)


def ended(case, code):
    return described(case, Ran(code=code, document=None, message="first line\nthis machine is busy\n"), 61.0)


QUIETS = [raced(slow=(2, ratio)) for ratio in (0.48, 0.5, 0.52)]
TRUTH = truth_of(QUIETS)


def test_the_quiet_ratio_is_the_mean_over_races_with_its_limits():
    middle, low, high = TRUTH["slow", "fast"]
    assert math.exp(middle) == pytest.approx(0.5, rel=0.01)
    assert low < middle < high < 0
    assert TRUTH["fast", "slow"] == pytest.approx((-middle, -high, -low))
    assert truth_of(QUIETS[:1]) == truth_of([raced(LOOPS)] * 3) == {}


def test_true_statements_are_none_that_are_false():
    assert false_statements(raced(LOOPS), TRUTH) == []
    assert false_statements(raced(LOOPS, kind="good choice"), TRUTH) == []
    assert false_statements(raced(LOOPS, kind="close", slow=(1, 0.9)), TRUTH) == []
    assert false_statements(ended(LOOPS, 3), TRUTH) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "close", "slow": (0, 1.2)}, "slow is in an earlier tier than fast"),
        ({"stacks": ["slow"], "slow": (1, 1.2)}, "slow is the best, not fast"),
        ({"kind": "good choice", "stacks": ["slow"], "slow": (1, 1.2)}, "slow is a good choice beside fast"),
        ({"kind": "alike", "stacks": ["fast", "slow"], "slow": (1, 0.98)}, "fast and slow are alike"),
    ],
)
def test_what_quiet_races_exclude_is_false(changes, said):
    assert said in false_statements(raced(LOOPS, **changes), TRUTH)


def test_an_order_that_quiet_races_leave_open_is_not_false():
    equal = truth_of([raced(slow=(1, ratio)) for ratio in (0.95, 1.0, 1.05)])
    assert false_statements(raced(LOOPS, slow=(0, 1.2), stacks=["slow"]), equal) == []


def test_limits_are_held_against_the_quiet_ratio_to_the_leader():
    assert rows_held(raced(LOOPS), TRUTH) == [True]
    assert rows_held(raced(LOOPS, slow=(2, 0.4)), TRUTH) == [False]
    assert rows_held(ended(LOOPS, 3), TRUTH) == []


def test_an_interrupted_experiment_goes_on_with_what_is_missing_in_turns():
    cases = [QUIETLY, LOOPS]
    assert due([], cases, 2) == [*cases, *cases]
    assert due([raced(), raced(), raced(LOOPS)], cases, 2) == [LOOPS]
    assert due([json.loads(json.dumps(raced(LOOPS)))], [LOOPS], 1) == []


def lines_of(*rows):
    return {line["races"]: line for line in judged([*QUIETS, *rows])}


def test_with_priority_most_races_must_answer_and_without_it_they_may_refuse():
    refused = [ended(case, 3) for case in (LOOPS, LOOPS_WITHOUT)]
    answered = [raced(LOOPS) for _ in range(4)]
    lines = lines_of(*answered, *refused)
    assert [lines[str(case)]["goals"] for case in (QUIETLY, LOOPS, LOOPS_WITHOUT)] == ["reached"] * 3
    assert (lines[str(LOOPS)]["answered"], lines[str(LOOPS)]["refused"]) == (4, 1)
    assert lines_of(*answered[:3], *refused)[str(LOOPS)]["goals"] == "MISSED"


def test_a_false_statement_a_failure_or_limits_beside_the_truth_miss_the_goals():
    good = [raced(LOOPS_WITHOUT) for _ in range(8)]
    assert lines_of(*good)[str(LOOPS_WITHOUT)]["goals"] == "reached"
    for bad in (
        [raced(LOOPS_WITHOUT, slow=(0, 0.52))],
        [ended(LOOPS_WITHOUT, 2)],
        [raced(LOOPS_WITHOUT, slow=(2, 0.4))],
    ):
        assert lines_of(*good, *bad)[str(LOOPS_WITHOUT)]["goals"] == "MISSED"
    assert ended(LOOPS_WITHOUT, 2)["message"] == "this machine is busy"


def test_without_quiet_races_nothing_is_said_of_truth_and_goals():
    (line,) = judged([raced(LOOPS)])
    assert (line["answered"], line["false"], line["goals"]) == (1, None, None)


def test_the_document_of_a_race_has_what_is_read_of_it():
    race = make_race(3, levels=(100,))
    told = document(race, standing_of(race))
    row = described(LOOPS, Ran(code=0, document=json.loads(json.dumps(told)), message=""), 30.0)
    assert set(row["rows"]) == set(race.stacks)
    assert row["came"] in ("answered", "open")
    assert rows_held(row, truth_of([{**row, "neighbour": QUIET}] * 2)) == [True, True]
