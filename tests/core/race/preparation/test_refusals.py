"""Budgets in time that are too short for a single block are refused before anything is started."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.race.preparation.test_planning import stage

from stackrace.base.errors import InputError
from stackrace.race.preparation.planning import plan_of
from stackrace.race.preparation.preflight import refuse_early
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.race.twins import entrants

ASKED = RaceRequest(folder=Path("/nowhere"), concurrency=(1, 20), stacks=("gunicorn", "waitress"))


def test_a_budget_that_holds_no_block_is_refused_and_says_how_long_it_would_take():
    with pytest.raises(
        InputError,
        match=r"--budget 5 s is too short: .* 2 stacks at 2 load levels takes .* an answer needs at least 2 blocks",
    ):
        refuse_early(replace(ASKED, budget_s=5.0))


def test_slices_as_long_as_asked_for_count():
    refuse_early(replace(ASKED, budget_s=14.0))
    with pytest.raises(InputError, match=r"--budget 14 s is too short: one block of .* takes 3\d"):
        refuse_early(replace(ASKED, budget_s=14.0, slice_s=4.0))


def test_the_hidden_twin_takes_its_time_too():
    refuse_early(replace(ASKED, budget_s=9.0, twin=False))
    with pytest.raises(InputError, match=r"2 stacks at 2 load levels takes .* or --no-twin"):
        refuse_early(replace(ASKED, budget_s=9.0))
    plan = plan_of(ASKED, stage())
    assert [stack.path.partition("#")[2] for stack in entrants(plan)] == ["", "", "twin"]
    assert entrants(replace(plan, twin=False)) == plan.stacks


def test_every_workload_counts():
    several = replace(ASKED, workloads=tuple(WorkloadRequest(name=name, urls=("/",)) for name in "abcdefghij"))
    refuse_early(replace(ASKED, budget_s=14.0))
    with pytest.raises(InputError, match="2 stacks with 10 workloads at 2 load levels"):
        refuse_early(replace(several, budget_s=14.0))


@pytest.mark.parametrize(
    "free",
    [
        {"stacks": None},
        {"repeats": 3, "run_s": 1.0},
        {"workloads": (WorkloadRequest(name="a", stacks=("waitress",)),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_not_known_yet_is_not_refused_yet(free):
    refuse_early(replace(ASKED, budget_s=5.0, **free))
