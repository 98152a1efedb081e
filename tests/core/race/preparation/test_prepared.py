"""From what was asked for to the plan of a race, what is kept of it, and what of the time before counts."""

import subprocess
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.hostile import give_away

from stackrace.app.app import App, Entry, EntryKind
from stackrace.base.errors import InputError, MissingError
from stackrace.deploy.preparing import Preparing, Step
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Answer, PageTime, Request, Sameness, Workload
from stackrace.race.preparation import prepared
from stackrace.race.preparation.choosing import Choice
from stackrace.race.preparation.prepared import _FirstRaceTimer, plan_of
from stackrace.race.preparation.set_up import _build
from stackrace.race.preparation.workloads import limits_of, met
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

HERE = Path("/nowhere")
ASKED = RaceRequest(folder=HERE, concurrency=(20, 1, 20))
QUICK = PageTime()
ANSWER = Answer(status=200, body=b"", content_type="", sameness=Sameness.STATUS)


def stacks_of(*paths):
    return tuple(parse_stack(path, catalogue().specs, frozenset(Interface)) for path in paths)


def asking(name, *urls):
    return Workload(requests=tuple(Request(path=url) for url in urls), answers=(ANSWER,) * len(urls), name=name)


def stage(*workloads, limits=(), levels=(1, 20), paths=("gunicorn", "waitress"), loading=QUICK):
    """What ``set_up`` would have made ready, without the processes."""
    app = App(name="none", root=HERE, entry=Entry(kind=EntryKind.WSGI, target="a:b"), python=HERE)
    return SimpleNamespace(
        examined=SimpleNamespace(app=app, project=app, loading=loading, django=None),
        unready=(),
        notes=(),
        current=None,
        stacks=stacks_of(*paths),
        left_out=(),
        limit=(),
        levels=levels,
        workloads=workloads or (asking("", "/"),),
        limits=dict(limits),
        cores=Resources(stack_cores=(0,), generator_cores=(1,)),
    )


def test_slices_have_no_length_and_three_minutes():
    plan = plan_of(ASKED, stage())
    assert [(load.concurrency, load.requests, load.duration_s) for load in plan.race.loads] == [
        (1, None, None),
        (20, None, None),
    ]
    assert (plan.budget_s, plan.race.repeats) == (180.0, None)


def test_runs_have_their_length_and_no_budget_but_a_given_one():
    request = replace(ASKED, repeats=3, run_requests=500)
    plan = plan_of(request, stage())
    assert [load.requests for load in plan.race.loads] == [500, 500]
    assert (plan.budget_s, plan.race.repeats) == (None, 3)
    assert plan_of(replace(request, budget_s=60.0), stage()).budget_s == 60.0
    timed = plan_of(replace(ASKED, repeats=3, run_s=60.0), stage())
    assert [(load.requests, load.duration_s) for load in timed.race.loads] == [(None, 60.0)] * 2
    by_level = plan_of(replace(ASKED, repeats=3, run_requests_at={1: 10, 20: 200}), stage())
    assert [load.requests for load in by_level.race.loads] == [10, 200]


def test_a_level_without_a_length_is_refused_with_the_way_out():
    with pytest.raises(InputError, match="how long is a run at 20 connections"):
        plan_of(replace(ASKED, repeats=3, run_requests_at={1: 10}), stage())


def test_what_is_kept_names_urls_by_workload_and_recordings_by_their_file():
    request = replace(
        ASKED,
        workloads=(
            WorkloadRequest(name="page", urls=("/", "/")),
            WorkloadRequest(name="browse", session=HERE / "a b.har", stacks=("waitress",)),
        ),
    )
    ready = stage(asking("page", "/", "/"), asking("browse", "/x"), limits={"browse": ("waitress",)})
    race = plan_of(request, ready).race
    assert race.workloads == {"page": ("/", "/"), "browse": ("file:///nowhere/a%20b.har",)}
    assert (race.urls, race.limits) == ((), {"browse": ("waitress",)})
    recorded = replace(ASKED, session=HERE / "browse.har")
    assert plan_of(recorded, stage()).race.urls == ("file:///nowhere/browse.har",)


def test_of_the_only_workload_the_urls_are_kept():
    race = plan_of(ASKED, stage(asking("", "/a", "/b"))).race
    assert (race.urls, race.workloads) == (("/a", "/b"), {})


def test_limits_are_by_canonical_path():
    one = WorkloadRequest(name="one", urls=("/",), stacks=("gunicorn:threads=4,class=gthread",))
    other = WorkloadRequest(name="other", urls=("/",))
    limits = limits_of(replace(ASKED, workloads=(one, other)), catalogue())
    assert limits == {"one": (stacks_of("gunicorn:threads=4,class=gthread")[0].path,)}
    assert limits_of(replace(ASKED, workloads=(one,)), catalogue()) == {}


def test_a_workload_that_no_stack_meets_is_left_out_and_a_stack_without_one_refused():
    workloads = (asking("one", "/"), asking("other", "/"))
    limits = {"one": ("gunicorn",), "other": ("waitress",)}
    assert [one.name for one in met(workloads, limits, stacks_of("gunicorn"))] == ["one"]
    with pytest.raises(InputError, match="cheroot has no workload"):
        met(workloads, limits, stacks_of("gunicorn", "cheroot"))


def test_a_repository_of_another_user_is_raced_without_its_commit(tmp_path):
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    give_away(tmp_path)
    request = replace(ASKED, folder=tmp_path)
    race = plan_of(request, stage()).race
    assert race.source is None
    assert "without its commit: git refuses" in race.notes[0] and "safe.directory" in race.notes[0]


def test_a_race_of_which_no_environment_can_be_built_fails_with_each_reason_once():
    reasons = {"gunicorn": "uv is not installed", "waitress": "uv is not installed", "bjoern": "no libev"}

    def fail(stack, *_):
        error = MissingError(reasons[stack.path], detail="uv's words" if stack.path == "gunicorn" else "")
        error.exit_code = 4
        raise error

    choice = Choice(
        candidates=stacks_of(*reasons), left_out=(), number=2, levels=(1,), workloads=(), current="gunicorn"
    )
    with pytest.raises(MissingError) as raised:
        _build(choice, catalogue(), SimpleNamespace(of_stack=fail), None, named=False)
    error = raised.value
    assert (error.message, error.exit_code) == ("uv is not installed", 4)
    assert error.detail == "uv's words\nstack 'bjoern': no libev"


def test_only_what_a_first_race_needs_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, heard = count(), []
    monkeypatch.setattr(prepared, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    stopwatch = _FirstRaceTimer(heard.append)
    for step in (Step.PACKAGES, Step.DATA, Step.ANSWERS):
        stopwatch(Preparing(step=step, subject="shop"))
    assert stopwatch.once_s() == 2.0
    assert [preparing.step for preparing in heard] == [Step.PACKAGES, Step.DATA, Step.ANSWERS]
