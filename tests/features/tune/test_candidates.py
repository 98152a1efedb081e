"""A tuning's goal, which configurations it means, and with what the best one is compared."""

import os
from dataclasses import replace

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError, StackError
from stackrace.features.tune.candidates import TuneRequest, candidates
from stackrace.features.tune.goal import parse_goal, tail_slice_s
from stackrace.features.tune.model import GoalKind, Reference
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


def slice_s(goal, asked_s=None):
    return tail_slice_s(parse_goal(goal), asked_s)


@pytest.mark.parametrize(
    ("goal", "seconds"),
    [("p50 at 200/s", 0.5), ("p90 at 100/s", 1.0), ("p99 at 200/s", 5.0), ("p99.9 at 2k/s", 5.0)],
)
def test_ten_requests_lie_beyond_the_quantile(goal, seconds):
    assert slice_s(goal) == pytest.approx(seconds)


def test_where_that_takes_too_long_the_quantile_and_the_rate_that_would_do_are_named():
    with pytest.raises(InputError) as refused:
        slice_s("p99.9 at 200/s")
    said = refused.value.message
    assert "--goal 'p99.9 at 200/s' needs slices of 50 s, for p99.9 rests on 10,000 requests" in said
    assert "give 'p99 at 200/s', 'p99.9 at 1000/s' or a higher rate, or --slice 50s" in said


def test_a_rate_for_which_no_quantile_would_do_names_none():
    with pytest.raises(InputError, match="give 'p50 at 2/s' or a higher rate"):
        slice_s("p50 at 1/s")


def test_a_long_slice_may_be_asked_for_and_one_that_is_too_short_is_refused():
    assert slice_s("p99.9 at 200/s", 50.0) == 50.0
    with pytest.raises(
        InputError, match=r"--slice 1 s has 200 requests at 200/s; p99 needs 1,000: give --slice 5s"
    ):
        slice_s("p99 at 200/s", 1.0)


def asked(stack, folder, **changes):
    race = RaceRequest(folder=folder, entry=Entry(kind=EntryKind.WSGI, target="a:b"))
    return TuneRequest(race=race, stack=stack, **changes)


def test_the_references_are_among_the_configurations_once(tmp_path):
    request, tuning = candidates(asked("gunicorn", tmp_path, current="gunicorn:workers=7", core_count=1))
    named = tuning.references
    assert named[Reference.DEFAULT] == "gunicorn"
    assert named[Reference.FORMULA] == "gunicorn:workers=3"
    assert named[Reference.CURRENT] == "gunicorn:workers=7"
    identities = [*request.stacks]
    assert len(set(identities)) == len(identities) == len(tuning.settings)
    assert tuning.settings["gunicorn:workers=7"] == ("7", "sync", None)
    assert "gunicorn:workers=2,class=sync" not in tuning.settings
    assert tuning.formula == "workers = 2n + 1"


def test_current_may_be_another_server(tmp_path):
    request, tuning = candidates(asked("waitress", tmp_path, current="uwsgi:processes=4"))
    assert tuning.references[Reference.CURRENT] == "uwsgi:processes=4"
    assert "uwsgi:processes=4" not in tuning.settings
    assert "uwsgi:processes=4" in request.stacks


def test_a_reference_that_differs_in_what_is_not_tuned_has_no_place_among_the_configurations(tmp_path):
    _, tuning = candidates(asked("gunicorn", tmp_path, vary=("class",), core_count=1))
    assert set(tuning.settings) == {"gunicorn", "gunicorn:class=gthread"}
    assert tuning.references[Reference.FORMULA] == "gunicorn:workers=3"


def test_a_wrong_current_is_said_with_its_flag(tmp_path):
    with pytest.raises(StackError, match="--current"):
        candidates(asked("waitress", tmp_path, current="waitres"))


def test_more_cores_than_there_are_beside_the_engine_are_refused(tmp_path):
    many = len(os.sched_getaffinity(0)) + 1
    with pytest.raises(InputError, match=f"--cores {many}: this machine has"):
        candidates(asked("waitress", tmp_path, core_count=many))


def test_a_budget_that_holds_no_launch_of_each_is_refused_with_what_would_do(tmp_path):
    wanted = asked("gunicorn", tmp_path, core_count=1)
    with pytest.raises(InputError, match=r"--budget 15 s is too short: launching 7 configurations.*--vary"):
        candidates(replace(wanted, race=replace(wanted.race, budget_s=15.0)))


def test_of_many_configurations_not_all_race_at_once(tmp_path):
    assert candidates(asked("nginx/http/gunicorn", tmp_path, vary=("all",)))[1].proposes
    assert not candidates(asked("waitress", tmp_path))[1].proposes


def test_a_quantile_with_too_few_requests_is_refused_before_anything_is_prepared(tmp_path):
    with pytest.raises(InputError, match=r"--goal 'p99\.9 at 200/s' needs slices of 50 s"):
        candidates(asked("waitress", tmp_path, goal=parse_goal("p99.9 at 200/s")))
