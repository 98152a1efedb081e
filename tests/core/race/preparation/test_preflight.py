"""What a race and a load are told before their start; budgets too short for a block are refused before that."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, count, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.core.race.preparation.test_prepared import stage

from stackrace.base.errors import InputError
from stackrace.base.units import DURATION
from stackrace.measure.load import Load
from stackrace.measure.probe import network_limits
from stackrace.measure.resources import Resources
from stackrace.race.preparation import prepared
from stackrace.race.preparation.prepared import _refuse_early, plan_of, wait_for_ports
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.race.run.twins import first_stacks
from stackrace.validity import registry
from stackrace.validity.preflight import shared_threads
from stackrace.validity.registry import check_limits

HALVES = Resources(stack_cores=(0,), generator_cores=(1,))


@pytest.mark.parametrize("ours", [True, False])
def test_where_a_server_that_is_not_ours_runs_nobody_knows(monkeypatch, ours):
    monkeypatch.setattr(registry, "physical_cores", lambda usable: (tuple(sorted(usable)),))
    said = check_limits((Load(concurrency=1),), HALVES, ours=ours)
    assert any(one.check == shared_threads.declaration.id for one in said) is ours


@pytest.mark.parametrize(
    ("reuse", "held", "waited_s"), [(0, (900, 900, 400), 2), (0, (400,), 0), (2, (900,), 0), (0, (), 61)]
)
def test_a_race_waits_for_ports_that_are_held_unless_the_kernel_uses_them_again(monkeypatch, reuse, held, waited_s):
    clock, said = count(), []
    usual = replace(network_limits(), ephemeral_ports=1000, tw_reuse=reuse)
    seen = chain((replace(usual, time_wait=one) for one in held), repeat(replace(usual, time_wait=900)))
    monkeypatch.setattr(prepared, "network_limits", lambda: next(seen))
    # the clock is looked at once before the wait and once after each second of it
    still = SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda seconds: None)
    monkeypatch.setattr(prepared, "time", still)
    assert wait_for_ports(said.append) == waited_s
    assert len(said) == bool(waited_s)


ASKED = RaceRequest(folder=Path("/nowhere"), concurrency=(1, 20), stacks=("gunicorn", "waitress"))


def test_a_budget_that_holds_no_block_is_refused_and_says_how_long_it_would_take():
    with pytest.raises(
        InputError,
        match=r"--budget 5 s is too short: .* 2 stacks at 2 load levels takes .* an answer needs at least 2 blocks",
    ):
        _refuse_early(replace(ASKED, budget_s=5.0))


def test_the_budget_that_is_advised_is_enough():
    with pytest.raises(InputError) as refused:
        _refuse_early(replace(ASKED, budget_s=5.0))
    advised = re.findall(r"give --budget (\S+),", refused.value.message)[0]
    _refuse_early(replace(ASKED, budget_s=DURATION.parse(advised)))


def test_slices_as_long_as_asked_for_count():
    _refuse_early(replace(ASKED, budget_s=14.0))
    with pytest.raises(InputError, match=r"--budget 14 s is too short: one block of .* takes 3\d"):
        _refuse_early(replace(ASKED, budget_s=14.0, slice_s=4.0))


def test_the_hidden_twin_takes_its_time_too():
    _refuse_early(replace(ASKED, budget_s=9.0, twin=False))
    with pytest.raises(InputError, match=r"2 stacks at 2 load levels takes .* or --no-twin"):
        _refuse_early(replace(ASKED, budget_s=9.0))
    plan = plan_of(ASKED, stage())
    assert [stack.path.partition("#")[2] for stack in first_stacks(plan)] == ["", "", "twin"]
    assert first_stacks(replace(plan, twin=False)) == plan.stacks


@pytest.mark.parametrize("beside", [{"silent": 1}, {"idle": 1}])
def test_connections_beside_the_load_need_its_engine_here(beside):
    asked = replace(ASKED, budget_s=60.0, **beside)
    _refuse_early(asked)
    with pytest.raises(InputError, match=r"--silent and --idle .* leave them out where load engines are on other"):
        _refuse_early(asked, remote_engine=True)


def test_every_workload_counts():
    several = replace(ASKED, workloads=tuple(WorkloadRequest(name=name, urls=("/",)) for name in "abcdefghij"))
    _refuse_early(replace(ASKED, budget_s=14.0))
    with pytest.raises(InputError, match="2 stacks with 10 workloads at 2 load levels"):
        _refuse_early(replace(several, budget_s=14.0))


@pytest.mark.parametrize(
    "free",
    [
        {"repeats": 3, "run_s": 1.0},
        {"workloads": (WorkloadRequest(name="a", stacks=("waitress",)),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_not_known_yet_is_not_refused_yet(free):
    _refuse_early(replace(ASKED, budget_s=5.0, **free))


def test_a_budget_for_less_than_two_stacks_is_refused_even_where_none_is_named():
    with pytest.raises(InputError, match="2 stacks at 2 load levels takes"):
        _refuse_early(replace(ASKED, budget_s=5.0, stacks=None))
    _refuse_early(replace(ASKED, budget_s=60.0, stacks=None))
