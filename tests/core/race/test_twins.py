"""The hidden twin and drift, on a machine that measures nothing."""

from __future__ import annotations

import itertools

import pytest

from stackrace.deploy.machine import Launched
from stackrace.measure.launch import Failure, FailureKind, StackFacts
from stackrace.race.events import Progress, RaceStarted, StackDescribed, TwinChosen
from stackrace.race.results.race import Ending
from stackrace.race.run.twins import TWIN_BLOCKS
from stackrace.stacks.stack import original_path, twin_path

from . import simulated
from .simulated import PATHS, SPEEDS, Nowhere, asking, cells_of


class Pairs(Nowhere):
    """A machine where a twin is as fast as its original, unless told otherwise."""

    def __init__(self, clock, speeds, **told):
        super().__init__(
            clock, {path + end: speed for path, speed in speeds.items() for end in ("", "#twin")}, **told
        )


def race(clock, machine, paths=PATHS, **plan):
    return simulated.race(clock, machine, list(paths), **{"twin": True, "budget_s": 200.0, **plan})


def by_block(finished):
    blocks = {}
    for launch in finished.launches:
        blocks.setdefault(launch.block, []).append(launch.stack)
    return blocks


def test_one_stack_runs_twice_and_is_no_competitor(clock):
    finished, told = race(clock, Pairs(clock, SPEEDS), budget_s=120.0)
    assert finished.twin in PATHS
    assert finished.stacks == PATHS
    for launched in list(by_block(finished).values())[:2]:
        assert sorted(launched) == sorted([*PATHS, twin_path(finished.twin)])
    assert next(event for event in told if isinstance(event, RaceStarted)).race.twin == finished.twin


def test_the_twin_is_measured_at_every_cell_of_its_original(clock):
    finished, _ = race(clock, Pairs(clock, SPEEDS), levels=(1, 10), workloads=(asking("a"), asking("b")))
    cells = cells_of(finished)
    own = {cell[1:] for cell in cells if cell[0] == finished.twin}
    assert own == set(itertools.product("ab", (1, 10)))
    assert {cell[1:] for cell in cells if cell[0] == twin_path(finished.twin)} == own


def test_a_workload_for_some_stacks_is_met_by_the_twin_as_by_its_original(clock):
    workloads, limits = (asking("all"), asking("one")), {"one": PATHS[:2]}
    for seed in range(6):
        finished, _ = race(clock, Pairs(clock, SPEEDS), workloads=workloads, limits=limits, seed=seed)
        met = {path for path, name, _ in cells_of(finished) if name == "one"}
        assert {original_path(path) for path in met} == set(PATHS[:2])
        assert (twin_path(finished.twin) in met) == (finished.twin in PATHS[:2])


def test_the_twin_meets_the_workload_that_the_answer_speaks_of(clock):
    workloads, limits = (asking("one"), asking("all")), {"one": PATHS[1:]}
    for seed in range(8):
        finished, _ = race(clock, Pairs(clock, SPEEDS), workloads=workloads, limits=limits, seed=seed)
        assert finished.twin in PATHS[1:]


def test_the_seed_chooses_the_twin(clock):
    seeds = [*range(7), *range(7)]
    chosen = [race(clock, Pairs(clock, SPEEDS), seed=seed, budget_s=25.0)[0].twin for seed in seeds]
    assert chosen[:7] == chosen[7:]
    assert set(chosen) == set(PATHS)


def test_there_is_no_twin_of_a_single_stack_nor_where_none_is_wanted(clock):
    alone, _ = race(clock, Pairs(clock, SPEEDS), PATHS[:1], budget_s=60.0)
    without, _ = race(clock, Pairs(clock, SPEEDS), twin=False, budget_s=60.0)
    for finished in (alone, without):
        assert finished.twin == ""
        assert {launch.stack for launch in finished.launches} <= set(PATHS)


def test_where_the_chosen_one_does_not_start_another_takes_its_place_in_the_next_block(clock):
    first = race(clock, Pairs(clock, SPEEDS), seed=3)[0].twin
    finished, told = race(clock, Pairs(clock, SPEEDS, not_starting={first, twin_path(first)}), seed=3)
    assert finished.twin != first
    assert [event.stack for event in told if isinstance(event, TwinChosen)] == [finished.twin]
    blocks = by_block(finished)
    assert twin_path(finished.twin) not in blocks[0]
    assert all(twin_path(finished.twin) in blocks[block] for block in blocks if 0 < block <= TWIN_BLOCKS)
    assert twin_path(first) not in blocks[1]


def test_a_stack_that_cannot_run_beside_itself_is_not_the_twin(clock):
    first = race(clock, Pairs(clock, SPEEDS), seed=3)[0].twin
    finished, _ = race(clock, Pairs(clock, SPEEDS, not_starting={twin_path(first)}), seed=3)
    assert finished.twin != first
    assert all(first in launched for launched in by_block(finished).values())


def test_where_nobody_ran_twice_the_race_does_not_say_so(clock):
    nobody = {twin_path(path) for path in PATHS}
    finished, told = race(clock, Pairs(clock, SPEEDS, not_starting=nobody), budget_s=100.0)
    assert finished.twin == ""
    assert [event.stack for event in told if isinstance(event, TwinChosen)][-1] == ""


def test_nothing_is_said_about_what_a_twin_is_and_it_is_not_shown(clock):
    class Describing(Pairs):
        def launch(self, stack, timeout_s):
            super().launch(stack, timeout_s)
            return Launched(ready_s=1.0, facts=StackFacts(stack=stack.path))

    finished, told = race(clock, Describing(clock, SPEEDS))
    assert sorted(facts.stack for facts in finished.facts) == sorted(PATHS)
    assert {event.facts.stack for event in told if isinstance(event, StackDescribed)} <= set(PATHS)
    assert {event.stack for event in told if isinstance(event, Progress)} <= {None, *PATHS}


CLOSE = {"gunicorn": 1000, "waitress": 1000, "cheroot": 300}


def close_race(clock, machine, **told):
    """A race that takes many blocks, whose twin is the stack that has lost at once."""
    tried = ((seed, race(clock, Pairs(clock, SPEEDS), seed=seed, budget_s=25.0)[0].twin) for seed in range(20))
    seed = next(seed for seed, twin in tried if twin == "cheroot")
    return by_block(race(clock, machine, seed=seed, budget_s=200.0, difference=0.001, **told)[0])


@pytest.mark.exhaustive
def test_the_pair_stays_for_three_blocks_though_it_has_lost_after_two(clock):
    without = close_race(clock, Pairs(clock, CLOSE), twin=False)
    assert [("cheroot" in launched) for launched in without.values()][:4] == [True, True, False, False]
    finished = close_race(clock, Pairs(clock, CLOSE))
    pair = {"cheroot", "cheroot#twin"}
    assert [len(pair & set(launched)) for launched in finished.values()][:5] == [2, 2, 2, 0, 0]


def test_a_pair_that_differs_stays(clock):
    machine = Pairs(clock, CLOSE)
    machine.speeds["cheroot#twin"] *= 1.5
    finished = close_race(clock, machine)
    assert all({"cheroot", "cheroot#twin"} <= set(launched) for launched in finished.values())


def test_a_race_that_measures_everything_keeps_the_pair_to_the_end(clock):
    finished = close_race(clock, Pairs(clock, CLOSE), exhaustive=True)
    assert all({"cheroot", "cheroot#twin"} <= set(launched) for launched in finished.values())


def test_twins_that_differ_keep_a_race_from_ending_early(clock):
    speeds = {"gunicorn": 1000, "waitress": 3000, "cheroot": 1100}
    machine = Pairs(clock, speeds)
    honest, _ = race(clock, machine, budget_s=400.0)
    assert honest.ending is Ending.ANSWERED
    machine = Pairs(clock, speeds)
    machine.speeds[twin_path(honest.twin)] *= 1.5
    finished, _ = race(clock, machine, budget_s=400.0)
    assert finished.ending is Ending.BUDGET


def test_runs_have_a_twin_too(clock):
    finished, _ = race(clock, Pairs(clock, SPEEDS), levels=(1, 10), repeats=3, run={"requests": 500}, budget_s=None)
    assert finished.ending is Ending.COMPLETED
    assert len(finished.launches) == 3 * (len(PATHS) + 1) * 2
    twin = [launch for launch in finished.launches if launch.stack == twin_path(finished.twin)]
    assert [launch.block for launch in twin] == [0, 0, 1, 1, 2, 2]


def test_runs_choose_another_twin_where_the_first_does_not_start(clock):
    told = {"repeats": 4, "run": {"requests": 100}, "budget_s": None, "seed": 3}
    first = race(clock, Pairs(clock, SPEEDS), **told)[0].twin
    finished, _ = race(clock, Pairs(clock, SPEEDS, not_starting={first, twin_path(first)}), **told)
    assert finished.twin != first
    assert sum(launch.stack == twin_path(finished.twin) for launch in finished.launches) == 3


def test_a_twin_that_dies_is_launched_again_and_the_race_goes_on(clock):
    first = race(clock, Pairs(clock, SPEEDS))[0].twin

    class Dying(Pairs):
        def failure_of(self, stack):
            dead = stack.path == twin_path(first)
            return Failure(kind=FailureKind.DIED, message="dead") if dead else None

    finished, _ = race(clock, Dying(clock, SPEEDS))
    assert finished.twin == first
    assert finished.ending in (Ending.BUDGET, Ending.ANSWERED)


@pytest.mark.parametrize("budget_s", [60.0, 100.0, 200.0])
def test_the_budget_is_kept_and_filled_with_a_twin(clock, budget_s):
    finished, _ = race(clock, Pairs(clock, dict.fromkeys(PATHS, 1000)), budget_s=budget_s)
    assert finished.elapsed_s <= 1.1 * budget_s
    if finished.ending is Ending.BUDGET:
        assert finished.elapsed_s >= 0.9 * budget_s
