"""How a budget becomes blocks."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stackrace.race.schedule import (
    LEAST_SLICE_S,
    MOST_BLOCKS,
    ROOMY_BLOCKS,
    WIDTHS,
    Costs,
    Extent,
    _width,
    least_budget_s,
    plan_block,
)
from stackrace.stats.looks import look

COSTS = Costs()


def alike(stacks, levels):
    """Every stack meets every level."""
    return Extent(stacks=stacks, headline=stacks, sides=stacks * (levels - 1))


def spent_s(plan, extent):
    """What the planned block will take."""
    headline = plan.passes * (plan.slice_s + COSTS.between_s)
    others = plan.side_passes * (plan.side_slice_s + COSTS.between_s)
    return COSTS.of(extent.stacks) + extent.headline * headline + extent.sides * others


@given(st.integers(1, 18), st.integers(0, 90), st.floats(0.1, 20), st.floats(1, 7200))
def test_a_slice_of_a_given_length_is_part_of_the_least_budget(cells, sides, slice_s, budget_s):
    extent = Extent(stacks=cells, headline=cells, sides=sides)
    least_s = least_budget_s(extent, COSTS, slice_s)
    assume(abs(budget_s - least_s) > 1e-6)
    fits = plan_block(extent, remaining_s=budget_s, done=0, costs=COSTS, fixed_slice_s=slice_s) is not None
    assert fits == (budget_s > least_s)


@given(
    stacks=st.integers(1, 18),
    headline=st.integers(1, 18),
    sides=st.integers(0, 90),
    remaining_s=st.floats(1, 7200),
    done=st.integers(0, MOST_BLOCKS),
)
def test_the_blocks_planned_just_fill_what_remains(stacks, headline, sides, remaining_s, done):
    extent = Extent(stacks=stacks, headline=headline, sides=sides)
    plan = plan_block(extent, remaining_s=remaining_s, done=done, costs=COSTS)
    if plan is None:
        assert done == MOST_BLOCKS or remaining_s < least_budget_s(extent, COSTS) + 1e-6
        return
    assert plan.slice_s >= LEAST_SLICE_S - 1e-9
    assert plan.passes >= 1
    assert plan.side_slice_s >= LEAST_SLICE_S - 1e-9
    assert plan.blocks_left * spent_s(plan, extent) == pytest.approx(remaining_s)


@given(remaining_s=st.floats(20, 7200))
def test_a_fixed_slice_is_kept_and_the_budget_too(remaining_s):
    plan = plan_block(alike(2, 1), remaining_s=remaining_s, done=0, costs=COSTS, fixed_slice_s=2.0)
    assert plan is not None
    assert plan.slice_s == 2.0
    assert plan.blocks_left * spent_s(plan, alike(2, 1)) <= remaining_s + 1e-6


def test_with_little_time_the_headline_comes_first():
    tight = plan_block(alike(10, 3), remaining_s=180, done=0, costs=COSTS)
    assert tight.blocks_left >= 3
    assert tight.side_passes == 1
    roomy = plan_block(alike(10, 3), remaining_s=1800, done=0, costs=COSTS)
    assert roomy.blocks_left >= ROOMY_BLOCKS
    assert roomy.side_passes == roomy.passes > 1


@given(remaining_s=st.floats(10, 7200))
def test_more_time_never_means_fewer_launches_of_fewer_slices(remaining_s):
    shorter = plan_block(alike(3, 1), remaining_s=remaining_s, done=0, costs=COSTS)
    longer = plan_block(alike(3, 1), remaining_s=2 * remaining_s, done=0, costs=COSTS)
    if shorter is not None:
        assert longer.blocks_left >= shorter.blocks_left or longer.passes >= shorter.passes
        assert _width(longer.blocks_left, longer.passes) <= _width(shorter.blocks_left, shorter.passes)


def test_the_widths_are_those_of_the_statistics():
    rng = np.random.default_rng(1)
    for blocks in (3, 5, 8, 14, 30):
        medians = []
        for stacks in (2, 3, 4, 10):
            upper = np.triu_indices(stacks, 1)
            widths = [np.median(look(rng.normal(size=(stacks, blocks))).half_width[upper]) for _ in range(100)]
            medians.append(np.log(np.median(widths)))
        assert _width(blocks, 1) / _width(2, 1) * WIDTHS[0] == pytest.approx(np.exp(np.mean(medians)), rel=0.2)
