"""What the project runs today is chosen beside the others, once, and never in the way of the race."""

from dataclasses import replace

import pytest

from stackrace.base.errors import InputError, MissingItem
from stackrace.features.current.contestant import current_stack
from stackrace.features.current.current_options import CurrentRequest
from stackrace.race.preparation.choosing import _with_current, asked
from stackrace.race.preparation.workloads import limits_of
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.race.results.parts import Parts
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface


def sought(current):
    return {"parts": Parts().having(CurrentRequest(current=current))}


WSGI = frozenset({Interface.WSGI})


@pytest.fixture
def project(tmp_path):
    (tmp_path / "Procfile").write_text("web: gunicorn -w 3 shop:app\n")
    return RaceRequest(folder=tmp_path)


def found(request, offered=WSGI):
    return current_stack(request, catalogue(), offered)


def test_it_is_found_where_nobody_says_anything(project):
    current = found(project)
    assert current is not None and current.stack is not None
    assert current.stack.path == "gunicorn:workers=3"


@pytest.mark.parametrize(
    "changes",
    [
        sought(False),
        {"contestants": False},
        {"bundled": "django"},
        {"stacks": ("waitress",)},
    ],
)
def test_it_is_not_looked_for_where_it_is_not_wanted(project, changes):
    assert found(replace(project, **changes)) is None


def test_a_folder_without_a_deployment_has_none(tmp_path):
    assert found(RaceRequest(folder=tmp_path)) is None


def test_beside_named_stacks_it_is_raced_when_asked_for(project):
    assert found(replace(project, stacks=("waitress",), contestants=True)) is not None
    assert found(replace(project, stacks=("waitress",), **sought(True))) is not None


def test_a_file_that_starts_nothing_is_refused(project):
    with pytest.raises(InputError, match="correct --current"):
        found(replace(project, **sought(project.folder / "none.yml")))


def test_a_server_that_is_not_here_is_said_with_the_way_out(project, monkeypatch):
    item = MissingItem(name="gunicorn", missing="no program gunicorn", packages=(), elsewhere="")
    monkeypatch.setattr("stackrace.features.current.contestant.missing_from", lambda stack, known: (item,))
    current = found(project)
    assert current is not None
    assert current.stack is None
    problem = current.deployment.problem
    assert problem.startswith("it needs what is not installed here: gunicorn")
    assert problem.endswith("run: stackrace install gunicorn")


def test_a_stack_that_does_not_host_the_app_is_said(project):
    current = found(project, frozenset({Interface.RACK}))
    assert current is not None
    assert current.stack is None
    assert "gunicorn hosts" in current.deployment.problem


def test_it_comes_first_and_the_same_stack_races_once():
    gunicorn, waitress, uwsgi = asked(["gunicorn", "waitress", "uwsgi"], catalogue(), WSGI)
    (same,) = asked(["gunicorn:workers=2"], catalogue(), WSGI)
    assert _with_current(same, (waitress, gunicorn, uwsgi), most=None) == (gunicorn, waitress, uwsgi)
    assert _with_current(uwsgi, (gunicorn, waitress), most=2) == (uwsgi, gunicorn)


def test_one_whose_packages_cannot_be_had_is_left_out_of_the_race_with_the_reason(project):
    current = found(project)
    assert current is not None and current.stack is not None
    assert current.among((current.stack,), current.stack.path, "") == current
    without = current.among((), current.stack.path, "the disk is full")
    assert (without.stack, without.deployment.problem) == (None, "the disk is full")


def test_it_meets_all_workloads_where_it_would_meet_none(project):
    workloads = tuple(WorkloadRequest(name=name, urls=("/",), stacks=("waitress",)) for name in ("a", "b"))
    limits = limits_of(replace(project, workloads=workloads), catalogue(), "gunicorn")
    assert limits == {"a": ("waitress", "gunicorn"), "b": ("waitress", "gunicorn")}
    opened = (workloads[0], replace(workloads[1], stacks=None))
    assert limits_of(replace(project, workloads=opened), catalogue(), "gunicorn") == {"a": ("waitress",)}
