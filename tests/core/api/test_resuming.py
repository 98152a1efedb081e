"""What a race that goes on is held to."""

from dataclasses import fields, replace

import pytest
from tests.factories import HOST, make_race

from stackrace.api.resuming import ResumedRace, _budget_s, _remaining_s, _request, refuse_changed, request_document
from stackrace.base.errors import InputError
from stackrace.measure.load import Load
from stackrace.measure.resources import Enforcement
from stackrace.race.request.request import RaceRequest
from stackrace.race.run.resume import Checkpoint

RACE = make_race(stacks=2, levels=(10,), blocks=2, ending=None, elapsed_s=60.0)
CHECKPOINT = Checkpoint(request={}, interpreter="/venv/python", sources="ab12", blocks=1)
RESUMED = ResumedRace(race=RACE, request=None, checkpoint=CHECKPOINT, left_s=None)


def test_the_same_race_goes_on():
    now = replace(RACE, id="0" * 13, started_at="later", launches=(), facts=(), notes=("another",), elapsed_s=0.0)
    refuse_changed(RESUMED, now, replace(CHECKPOINT, folder="/tmp/stackrace-01ab23cd", blocks=0))


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"version": "9.9"}, "Stackrace was 0.1.0, now it is 9.9"),
        ({"host": replace(HOST, kernel="6.12")}, "the kernel was 6.1.0, now it is 6.12"),
        ({"host": replace(HOST, cpu="other")}, "the processor was"),
        ({"host": replace(HOST, python="3.14.0")}, "Stackrace's own Python was"),
        ({"cores": replace(RACE.cores, stack_cores=(5, 6, 7))}, "the stacks' cores was .*, now it is 5-7;"),
        ({"cores": replace(RACE.cores, generator_cores=(9,))}, "the load engine's cores was .*, now it is 9;"),
        ({"cores": replace(RACE.cores, memory_bytes=2**30)}, "memory of each stack was unlimited, now it is 1 GiB"),
        ({"cores": replace(RACE.cores, enforced=Enforcement.CGROUP)}, "was affinity, now it is control group"),
        ({"app": "other"}, "the app was shop, now it is other"),
        ({"urls": ("/other",)}, "what is asked for"),
        ({"loads": (Load(concurrency=3),)}, "the load was"),
        ({"stacks": ("gunicorn",)}, "the list of stacks"),
    ],
)
def test_what_differs_is_named(now, told):
    with pytest.raises(InputError, match=told) as refused:
        refuse_changed(RESUMED, replace(RACE, **now), CHECKPOINT)
    assert "the results so far are kept" in refused.value.message


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"interpreter": ""}, "interpreter was /venv/python, now it is none"),
        ({"sources": "cd34"}, "app's files was ab12, now it is cd34"),
    ],
)
def test_another_app_is_named(now, told):
    with pytest.raises(InputError, match=told):
        refuse_changed(RESUMED, RACE, replace(CHECKPOINT, **now))


def test_memory_and_limits_vary_from_boot_to_boot():
    refuse_changed(RESUMED, replace(RACE, host=replace(HOST, memory_bytes=1, limits={})), CHECKPOINT)
    assert {field.name for field in fields(HOST)} == {
        "system", "kernel", "cpu", "cores", "virtual", "python", "memory_bytes", "limits",
    }  # fmt: skip


def test_a_budget_may_only_grow():
    assert _budget_s(RACE, None) == RACE.budget_s
    assert _budget_s(RACE, 2 * RACE.budget_s) == 2 * RACE.budget_s
    with pytest.raises(InputError, match="less than race"):
        _budget_s(RACE, RACE.budget_s / 2)
    with pytest.raises(InputError, match="has no budget"):
        _budget_s(replace(RACE, repeats=3, budget_s=0.0), 60.0)


def test_what_is_left_is_told_from_what_blocks_took():
    runs = replace(RACE, repeats=6, budget_s=0.0, elapsed_s=20.0)
    assert _remaining_s(runs, 2) == 4 * 10.0
    assert _remaining_s(replace(runs, elapsed_s=0.0), 0) is None
    assert _remaining_s(replace(runs, budget_s=35.0), 2) == 15.0
    assert _remaining_s(replace(RACE, budget_s=100.0), 1) == 40.0


def test_what_is_run_today_goes_on_only_where_it_was_raced(tmp_path):
    asked = RaceRequest(folder=tmp_path, contestants=True)
    checkpoint = replace(CHECKPOINT, request=request_document(asked))
    raced, unraced = (_request(checkpoint, replace(RACE, current=current)) for current in (RACE.stacks[0], ""))
    assert (raced.contestants, raced.stacks) == (True, RACE.stacks)
    assert (unraced.contestants, unraced.stacks) == (False, RACE.stacks)
