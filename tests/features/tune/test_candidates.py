"""Which configurations there are, and with what the best one is compared."""

import os
from dataclasses import replace

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError, StackError
from stackrace.features.tune.candidates import candidates
from stackrace.features.tune.model import Reference
from stackrace.features.tune.request import TuneRequest, parse_goal
from stackrace.race.request.request import RaceRequest


def asked(stack, folder, **changes):
    race = RaceRequest(folder=folder, entry=Entry(kind=EntryKind.WSGI, target="a:b"))
    return TuneRequest(race=race, stack=stack, **changes)


def test_the_references_are_among_the_configurations_once(tmp_path):
    found = candidates(asked("gunicorn", tmp_path, current="gunicorn:workers=7", core_count=1))
    named = found.tuning.references
    assert named[Reference.DEFAULT] == "gunicorn"
    assert named[Reference.FORMULA] == "gunicorn:workers=3"
    assert named[Reference.CURRENT] == "gunicorn:workers=7"
    identities = [stack.identity for stack in found.stacks]
    assert len(set(identities)) == len(identities) == len(found.tuning.settings)
    assert found.tuning.settings["gunicorn:workers=7"] == ("7", "sync", None)
    assert "gunicorn:workers=2,class=sync" not in found.tuning.settings
    assert found.tuning.formula == "workers = 2n + 1"


def test_current_may_be_another_server(tmp_path):
    found = candidates(asked("waitress", tmp_path, current="uwsgi:processes=4"))
    assert found.tuning.references[Reference.CURRENT] == "uwsgi:processes=4"
    assert "uwsgi:processes=4" not in found.tuning.settings
    assert "uwsgi:processes=4" in [stack.path for stack in found.stacks]


def test_a_reference_that_differs_in_what_is_not_tuned_has_no_place_among_the_configurations(tmp_path):
    found = candidates(asked("gunicorn", tmp_path, vary=("class",), core_count=1))
    assert set(found.tuning.settings) == {"gunicorn", "gunicorn:class=gthread"}
    assert found.tuning.references[Reference.FORMULA] == "gunicorn:workers=3"


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


def test_many_configurations_need_a_sampler_and_say_how_to_get_it(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'stackrace\[tune\]'"):
        candidates(asked("nginx/http/gunicorn", tmp_path, vary=("all",)))


def test_a_quantile_with_too_few_requests_is_refused_before_anything_is_prepared(tmp_path):
    with pytest.raises(InputError, match=r"--goal 'p99\.9 at 200/s' needs slices of 50 s"):
        candidates(asked("waitress", tmp_path, goal=parse_goal("p99.9 at 200/s")))
