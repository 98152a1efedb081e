"""How a budget becomes blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.race.schedule import (
    LEAST_BLOCKS,
    LEAST_SLICE_S,
    MOST_BLOCKS,
    REWARM_S,
    Costs,
    least_budget_s,
    plan_block,
)

COSTS = Costs()


def spent_s(plan, stacks, levels):
    """What the planned block will take."""
    return COSTS.of(stacks) + plan.passes * stacks * levels * (plan.slice_s + REWARM_S)


@given(
    stacks=st.integers(1, 18),
    levels=st.integers(1, 5),
    remaining_s=st.floats(1, 7200),
    done=st.integers(0, MOST_BLOCKS),
)
def test_the_blocks_planned_just_fill_what_remains(stacks, levels, remaining_s, done):
    plan = plan_block(stacks=stacks, levels=levels, remaining_s=remaining_s, done=done, costs=COSTS)
    if plan is None:
        assert done == MOST_BLOCKS or remaining_s < least_budget_s(stacks=stacks, levels=levels, costs=COSTS) + 1e-6
        return
    assert plan.slice_s >= LEAST_SLICE_S - 1e-9
    assert plan.passes >= 1
    assert plan.blocks_left * spent_s(plan, stacks, levels) == pytest.approx(remaining_s)


@given(remaining_s=st.floats(20, 7200))
def test_a_fixed_slice_is_kept_and_the_budget_too(remaining_s):
    plan = plan_block(stacks=2, levels=1, remaining_s=remaining_s, done=0, costs=COSTS, fixed_slice_s=2.0)
    assert plan is not None
    assert plan.slice_s == 2.0
    assert plan.blocks_left * spent_s(plan, 2, 1) <= remaining_s + 1e-6


def test_passes_are_given_up_before_blocks_are():
    tight = plan_block(stacks=10, levels=3, remaining_s=180, done=0, costs=COSTS)
    assert tight.blocks_left == LEAST_BLOCKS
    roomy = plan_block(stacks=10, levels=3, remaining_s=1800, done=0, costs=COSTS)
    assert roomy.blocks_left > LEAST_BLOCKS
    assert roomy.passes > tight.passes
