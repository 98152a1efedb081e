"""Which stacks are up at once, by arithmetic and on a machine that measures nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.race.results.race import Ending
from stackrace.race.run.block import Memory
from stackrace.validity.preflight import MEMORY_SHARE

from . import simulated
from .simulated import CORES, PATHS, SPEEDS, Nowhere
from .test_twins import Pairs, by_block

MIB = 1024**2


def test_without_limits_all_fit():
    assert Memory().fits(["a"] * 100, "b")
    assert Memory().batch_size(["a", "b", "c"]) == 3


def test_four_fifths_of_the_room_are_used():
    memory = Memory(room_bytes=1000, known={"a": 400, "b": 400, "c": 1})
    assert memory.fits(["a"], "b")
    assert not memory.fits(["a", "b"], "c")


def test_a_stack_alone_always_fits():
    assert Memory(room_bytes=10, known={"a": 1000}).fits([], "a")
    assert Memory(room_bytes=10, known={"a": 1000}).batch_size(["a", "a"]) == 1


def test_of_stacks_that_write_to_the_same_places_one_is_up_at_a_time():
    memory = Memory(alone=frozenset({"a", "b"}))
    assert memory.fits(["c"], "a") and memory.fits(["a"], "c")
    assert not memory.fits(["c", "a"], "b")
    assert not memory.fits(["a"], "a#twin")
    assert memory.batch_size(["a", "b", "c", "d"]) == 2


def test_a_twin_is_as_large_as_its_original_and_a_stranger_as_the_largest():
    memory = Memory(room_bytes=100, known={"a": 30, "b": 50})
    assert memory.fits(["a"], "a#twin")
    assert memory.fits(["a"], "new")
    assert not memory.fits(["b"], "new")


def test_what_stacks_may_use_counts_rather_than_what_they_use():
    assert not Memory(room_bytes=100, known={"a": 1, "b": 1}, bound_bytes=50).fits(["a"], "b")


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(1, 5000))
def test_batches_are_about_equal_and_a_full_one_is_full(sizes, room):
    stacks = [f"s{i}" for i in range(len(sizes))]
    memory = Memory(room_bytes=room, known=dict(zip(stacks, sizes, strict=True)))
    size = memory.batch_size(stacks)
    assert 1 <= size <= len(stacks)
    if sum(sizes) <= MEMORY_SHARE * room:
        assert size == len(stacks)


# On a machine


@pytest.mark.parametrize("told", [{}, {"cores": replace(CORES, memory_bytes=300 * MIB)}])
def test_stacks_that_do_not_fit_together_are_raced_batch_by_batch(clock, told):
    machine = Nowhere(clock, SPEEDS)
    machine.room, machine.sizes = 1000 * MIB, dict.fromkeys(PATHS, 300 * MIB)
    finished, _ = simulated.race(clock, machine, list(PATHS), budget_s=200.0, **told)
    assert max(up for _, up in machine.launches) == 2
    for launched in by_block(finished).values():
        assert sorted(launched) == sorted(PATHS)
    assert all(launch.slices for launch in finished.launches)
    # all meet again and again, whoever was in which batch
    assert len({tuple(launched[:2]) for launched in by_block(finished).values()}) > 1


@pytest.mark.exhaustive
def test_the_pair_is_dealt_into_batches_like_everybody_else(clock):
    machine = Pairs(clock, SPEEDS)
    machine.room, machine.sizes = 1000 * MIB, dict.fromkeys(machine.speeds, 300 * MIB)
    finished, _ = simulated.race(clock, machine, list(PATHS), budget_s=1200.0, twin=True, exhaustive=True)
    pair = {finished.twin, f"{finished.twin}#twin"}
    together = [pair <= set(launched[:2]) or pair <= set(launched[2:]) for launched in by_block(finished).values()]
    assert any(together)
    assert not all(together)


@pytest.mark.parametrize("budget_s", [60.0, 100.0, 200.0, 400.0])
def test_the_budget_is_kept_with_batches(clock, budget_s):
    machine = Nowhere(clock, dict.fromkeys(PATHS, 1000))
    machine.room, machine.sizes = 1000 * MIB, dict.fromkeys(PATHS, 600 * MIB)
    finished, _ = simulated.race(clock, machine, list(PATHS), budget_s=budget_s)
    assert {up for _, up in machine.launches} == {1}
    assert finished.elapsed_s <= 1.1 * budget_s
    assert finished.ending in (Ending.BUDGET, Ending.ANSWERED)


def test_an_interruption_in_a_later_batch_stops_everything(clock):
    machine = Nowhere(clock, SPEEDS, interrupt_after=16)
    machine.room, machine.sizes = 1000 * MIB, dict.fromkeys(PATHS, 600 * MIB)
    finished, _ = simulated.race(clock, machine, list(PATHS), budget_s=200.0)
    assert finished.ending is Ending.INTERRUPTED
    assert machine.up == []


def test_of_servers_that_can_run_once_only_one_is_up(clock):
    paths = ["openlitespeed/http/gunicorn", "openlitespeed/http/waitress"]
    machine = Nowhere(clock, dict(zip(paths, (1000, 800), strict=True)))
    finished, _ = simulated.race(clock, machine, paths, budget_s=100.0)
    assert {up for _, up in machine.launches} == {1}
    assert {launch.stack for launch in finished.launches} == set(paths)
