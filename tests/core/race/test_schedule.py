"""How a budget becomes blocks."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.factories import make_race, make_result

from stackrace.race.pacing.overhead import Overhead
from stackrace.race.pacing.pace import SLICE_S, SliceLengths, fixed_lengths
from stackrace.race.pacing.schedule import (
    _WANTED_BLOCKS,
    MOST_BLOCKS,
    MOST_PASSES,
    Extent,
    least_budget_s,
    passes_worth,
    plan_block,
    variance_within,
)

OVERHEAD = Overhead()
CELLS = {"cells": st.integers(1, 18), "sides": st.integers(0, 90)}


def alike(stacks, levels):
    """Every stack meets every level."""
    return Extent(stacks=stacks, headline=stacks, sides=stacks * (levels - 1))


def spent_s(plan, extent):
    """What the planned block will take."""
    headline = plan.passes * extent.headline * (plan.slice_s + OVERHEAD.between_s)
    others = extent.sides * (plan.side_slice_s + OVERHEAD.between_s) if plan.sides else 0.0
    return OVERHEAD.empty_block_s(extent.stacks) + headline + others


def measured_s(plan, extent):
    """How much of that is slices."""
    return plan.passes * extent.headline * plan.slice_s + extent.sides * plan.side_slice_s * plan.sides


def raced(extent, budget_s):
    """Race block by block as planned, each costing what it should: the passes of all blocks, and their slices."""
    done, blocks = 0, []
    while (plan := plan_block(extent, remaining_s=budget_s, done=done, overhead=OVERHEAD)) is not None:
        blocks.append(plan)
        budget_s -= spent_s(plan, extent)
        done += 1
    assert not blocks or budget_s >= OVERHEAD.stop_s - 1e-6
    return blocks


@given(**CELLS, slice_s=st.floats(0.1, 20), budget_s=st.floats(1, 7200))
def test_a_slice_of_a_given_length_is_part_of_the_least_budget(cells, sides, slice_s, budget_s):
    extent = Extent(stacks=cells, headline=cells, sides=sides)
    least_s = least_budget_s(extent, OVERHEAD, fixed_lengths(slice_s))
    assume(abs(budget_s - least_s) > 1e-6)
    fits = (
        plan_block(extent, remaining_s=budget_s, done=0, overhead=OVERHEAD, lengths=fixed_lengths(slice_s))
        is not None
    )
    assert fits == (budget_s > least_s)


@given(**CELLS, budget_s=st.floats(1, 7200))
def test_blocks_fit_into_the_time_and_no_other_would(cells, sides, budget_s):
    extent = Extent(stacks=cells, headline=cells, sides=sides)
    blocks = raced(extent, budget_s)
    if not blocks:
        assert budget_s < least_budget_s(extent, OVERHEAD) + 1e-6
        return
    left_s = budget_s - sum(spent_s(plan, extent) for plan in blocks)
    once = Extent(stacks=cells, headline=cells)
    assert len(blocks) == MOST_BLOCKS or left_s < least_budget_s(once, OVERHEAD) + 1e-6
    assert all(plan.slice_s >= SLICE_S - 1e-9 and plan.passes >= 1 for plan in blocks)


@given(**CELLS, budget_s=st.floats(1, 5000), more=st.floats(1, 3), done=st.integers(0, 39))
def test_more_time_never_plans_fewer_blocks_nor_less_in_as_many(cells, sides, budget_s, more, done):
    extent = Extent(stacks=cells, headline=cells, sides=sides)
    shorter, longer = (
        plan_block(extent, remaining_s=time_s, done=done, overhead=OVERHEAD)
        for time_s in (budget_s, budget_s * more)
    )
    if shorter is not None:
        assert longer is not None
        assert longer.blocks_left >= shorter.blocks_left
        if longer.blocks_left == shorter.blocks_left:
            assert longer.passes * longer.slice_s >= shorter.passes * shorter.slice_s - 1e-9


@pytest.mark.parametrize(("stacks", "levels"), [(2, 1), (3, 3), (5, 3), (10, 1), (10, 3), (12, 4), (20, 3)])
def test_more_time_never_gives_a_race_less(stacks, levels):
    """Whole races, re-planned after every block: never fewer launches, nor fewer seconds in as many."""
    extent, before = alike(stacks, levels), (0, 0.0)
    for budget_s in range(5, 1500, 5):
        blocks = raced(extent, budget_s)
        now = (len(blocks), sum(measured_s(plan, extent) for plan in blocks))
        assert now[0] >= before[0], budget_s
        if now[0] == before[0]:
            assert now[1] >= before[1] - 1e-6, budget_s
        before = now


@given(remaining_s=st.floats(20, 7200))
def test_a_fixed_slice_is_kept_and_the_budget_too(remaining_s):
    plan = plan_block(alike(2, 1), remaining_s=remaining_s, done=0, overhead=OVERHEAD, lengths=fixed_lengths(2.0))
    assert plan is not None
    assert plan.slice_s == 2.0
    assert spent_s(plan, alike(2, 1)) <= remaining_s + 1e-6


def test_other_levels_are_measured_once_in_the_first_block():
    blocks = raced(alike(10, 3), 300)
    assert [plan.sides for plan in blocks] == [True, *[False] * (len(blocks) - 1)]
    assert all(plan.side_slice_s == plan.slice_s for plan in blocks)
    assert (
        plan_block(alike(3, 2), remaining_s=600, done=0, overhead=OVERHEAD, lengths=fixed_lengths(2.0)).side_slice_s
        == 2.0
    )


def test_other_levels_are_measured_again_where_all_blocks_fit_all_the_same():
    blocks = raced(alike(2, 3), 1000)
    assert len(blocks) == MOST_BLOCKS
    assert sum(plan.sides for plan in blocks) > 1


def test_blocks_have_the_passes_that_their_launches_are_worth():
    blocks = raced(alike(3, 1), 100)
    worth = passes_worth(OVERHEAD.launch_s + OVERHEAD.warmup_s, SLICE_S + OVERHEAD.between_s)
    assert {plan.passes for plan in blocks} == {worth}
    assert {plan.slice_s for plan in blocks} == {SLICE_S}


def test_where_time_is_short_passes_give_way_to_launches():
    extent = alike(3, 1)
    shortest = OVERHEAD.empty_block_s(3) + 3 * (SLICE_S + OVERHEAD.between_s)
    blocks = raced(extent, _WANTED_BLOCKS * shortest + OVERHEAD.stop_s + 0.1)
    assert len(blocks) == _WANTED_BLOCKS
    assert blocks[0].passes == 1
    assert len(raced(extent, 2 * shortest + OVERHEAD.stop_s + 0.1)) == 2


def test_where_a_page_is_slow_slices_give_way_too():
    extent = alike(3, 1)
    longest = OVERHEAD.empty_block_s(3) + 3 * (4.0 + OVERHEAD.between_s)
    plan = plan_block(
        extent,
        remaining_s=0.8 * _WANTED_BLOCKS * longest,
        done=0,
        overhead=OVERHEAD,
        lengths=SliceLengths(slice_s=4.0),
    )
    assert 0.6 * 4.0 <= plan.slice_s < 4.0


def test_slices_are_as_long_as_a_page_needs():
    plan = plan_block(alike(3, 1), remaining_s=600, done=0, overhead=OVERHEAD, lengths=SliceLengths(slice_s=4.0))
    assert plan.slice_s == 4.0


@given(launch_s=st.floats(0.01, 100), slice_s=st.floats(0.1, 60), more=st.floats(1, 10))
def test_dearer_launches_are_worth_more_slices_and_dearer_slices_fewer(launch_s, slice_s, more):
    usual = passes_worth(launch_s, slice_s)
    assert 1 <= usual <= MOST_PASSES
    assert passes_worth(launch_s, slice_s * more) <= usual <= passes_worth(launch_s * more, slice_s)
    assert usual == passes_worth(launch_s * more, slice_s * more)


@pytest.mark.parametrize(("launch_s", "slice_s", "passes"), [(0.83, 0.37, 2), (4.0, 0.37, 5), (0.83, 5.0, 1)])
def test_half_of_what_many_launches_would_want(launch_s, slice_s, passes):
    """Kalibera & Jones 2013, section 6.2: R = √(c_launch/c_slice · T1²/T2²), of which half."""
    assert passes_worth(launch_s, slice_s) == passes
    assert passes == round(math.sqrt(launch_s / slice_s / 0.1) / 2)


@pytest.mark.parametrize(("sd", "passes"), [(0.02, 2), (0.09, 2), (0.15, 4), (0.23, 6), (0.5, 8)])
def test_where_slices_vary_more_than_launches_are_known_to_a_launch_has_more_of_them(sd, passes):
    assert passes_worth(0.83, 0.37, sd**2) == passes


def test_passes_grow_only_where_enough_blocks_are_left():
    def passes(stacks, within):
        plan = plan_block(alike(stacks, 1), remaining_s=180, done=0, overhead=OVERHEAD, within=within)
        return plan.passes

    assert passes(4, 0.23**2) > passes(4, None) == passes(4, 0.05**2)
    assert passes(20, 0.23**2) == passes(20, None)


def varied(sd, stacks=7, *, last=None):
    """Return a race of one block in which the second pass is faster for all, and every stack's change differs.

    The last stack's change differs by ``last``, if given.
    """
    race = make_race(stacks=[f"waitress:threads={i + 1}" for i in range(stacks)], levels=(20,), blocks=1)
    launches = []
    for launch, sign in zip(race.launches, itertools.cycle((1, -1))):
        only = launch.slices[0]
        change = last if last is not None and launch is race.launches[-1] else sign * sd
        speeds = (10_000, 13_000 * math.exp(change))
        slices = [replace(only, index=i, result=make_result(each, load=only.load)) for i, each in enumerate(speeds)]
        launches.append(replace(launch, slices=tuple(slices)))
    return replace(race, launches=tuple(launches))


def test_the_variance_of_slices_is_that_of_the_first_blocks_first_two_passes():
    assert variance_within(varied(0.2, 6)) == pytest.approx((1.4826 * 0.2) ** 2 / 2, rel=0.01)
    assert variance_within(varied(0.0)) == pytest.approx(0.0, abs=1e-6)
    assert variance_within(varied(0.2, 2)) is None


def test_one_stack_whose_slices_vary_says_nothing_about_the_others():
    assert variance_within(varied(0.02, 6, last=0.8)) == pytest.approx(variance_within(varied(0.02, 6)), rel=0.01)
