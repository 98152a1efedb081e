"""A tuning's goal, which configurations it means, and with what the best one is compared."""

import os
import re

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.features.tune.model import GoalKind, Reference
from stackrace.features.tune.tuning_request import TuneRequest, candidates, parse_goal, tail_slice_s
from stackrace.race.request.request import RaceRequest


@pytest.mark.parametrize(
    ("text", "kind", "rate", "quantile"),
    [
        ("throughput", GoalKind.THROUGHPUT, None, "p99"),
        ("p99 at 200/s", GoalKind.LATENCY, 200.0, "p99"),
        ("P99.9 at 1.5k/s", GoalKind.LATENCY, 1500.0, "p999"),
        ("memory  at 500/s", GoalKind.MEMORY, 500.0, "p99"),
    ],
)
def test_a_goal_is_read(text, kind, rate, quantile):
    goal = parse_goal(text)
    assert (goal.kind, goal.rate_per_s, goal.quantile) == (kind, rate, quantile)


@pytest.mark.parametrize("text", ["fast", "p99", "p99 at", "p99 at fast", "memory at 0/s", "p75 at 100/s", ""])
def test_what_is_no_goal_is_refused_with_the_flag_named(text):
    with pytest.raises(InputError, match="--goal"):
        parse_goal(text)


@pytest.mark.parametrize(
    ("goal", "asked_s", "seconds"),
    [
        ("p50 at 200/s", None, 0.5),
        ("p90 at 100/s", None, 1.0),
        ("p99 at 200/s", None, 5.0),
        ("p99.9 at 2k/s", None, 5.0),
        # a long slice may be asked for
        ("p99.9 at 200/s", 50.0, 50.0),
    ],
)
def test_ten_requests_lie_beyond_the_quantile(goal, asked_s, seconds):
    assert tail_slice_s(parse_goal(goal), asked_s) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("goal", "asked_s", "said"),
    [
        (
            "p99.9 at 200/s",
            None,
            "--goal 'p99.9 at 200/s' needs slices of 50 s, for p99.9 rests on 10,000 requests; give 'p99 at "
            "200/s', 'p99.9 at 1000/s' or a higher rate, or --slice 50s",
        ),
        # no quantile would do for the rate
        ("p50 at 1/s", None, "give 'p50 at 2/s' or a higher rate"),
        ("p99 at 200/s", 1.0, "--slice 1 s has 200 requests at 200/s; p99 needs 1,000: give --slice 5s"),
    ],
)
def test_where_that_is_too_long_or_too_short_what_would_do_is_named(goal, asked_s, said):
    with pytest.raises(InputError, match=re.escape(said)):
        tail_slice_s(parse_goal(goal), asked_s)


def asked(stack, folder, *, budget_s=None, **changes):
    race = RaceRequest(folder=folder, entry=Entry(kind=EntryKind.WSGI, target="a:b"), budget_s=budget_s)
    return TuneRequest(race=race, stack=stack, **changes)


def test_the_references_are_among_the_configurations_once(tmp_path):
    request, tuning = candidates(asked("gunicorn", tmp_path, current="gunicorn:workers=7", core_count=1))
    assert tuning.references == {
        Reference.DEFAULT: "gunicorn",
        Reference.FORMULA: "gunicorn:workers=3",
        Reference.CURRENT: "gunicorn:workers=7",
    }
    assert len({*request.stacks}) == len(request.stacks) == len(tuning.settings)
    assert tuning.settings["gunicorn:workers=7"] == ("7", "sync", None)
    assert "gunicorn:workers=2,class=sync" not in tuning.settings
    assert tuning.formula == "workers = 2n + 1"


@pytest.mark.parametrize(
    ("stack", "changes", "stranger"),
    [
        # what runs today may be another server
        ("waitress", {"current": "uwsgi:processes=4"}, "uwsgi:processes=4"),
        # the formula differs in what is not tuned
        ("gunicorn", {"vary": ("class",), "core_count": 1}, "gunicorn:workers=3"),
    ],
)
def test_a_reference_that_is_no_configuration_races_without_a_place_among_them(stack, changes, stranger, tmp_path):
    request, tuning = candidates(asked(stack, tmp_path, **changes))
    assert stranger in tuning.references.values()
    assert {*request.stacks} - {*tuning.settings} == {stranger}


MANY = len(os.sched_getaffinity(0)) + 1


@pytest.mark.parametrize(
    ("stack", "changes", "said"),
    [
        ("waitress", {"current": "waitres"}, "--current"),
        ("waitress", {"core_count": MANY}, f"--cores {MANY}: this machine has"),
        ("gunicorn", {"core_count": 1, "budget_s": 15.0}, "--budget 15 s is too short: launching 7"),
        # refused before anything is prepared
        ("waitress", {"goal": parse_goal("p99.9 at 200/s")}, "--goal 'p99.9 at 200/s' needs slices of 50 s"),
    ],
)
def test_what_cannot_be_is_refused_with_its_flag(stack, changes, said, tmp_path):
    with pytest.raises(InputError, match=re.escape(said)):
        candidates(asked(stack, tmp_path, **changes))
