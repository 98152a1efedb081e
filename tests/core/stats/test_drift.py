"""Drift from the first block to the last, and what turns carried over."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from stackrace.stats.drift import LEAST_BLOCKS, carry_over, drift


def test_a_straight_line_drifts_by_its_span():
    found = drift([0.0, 0.1, 0.2, 0.3, 0.4])
    assert (found.value, found.low, found.high) == pytest.approx((0.4, 0.4, 0.4))


def test_the_slope_is_that_of_theil_and_sen():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 0.1, 14) + 0.02 * np.arange(14)
    found = drift(values)
    theirs = scipy.stats.theilslopes(values, np.arange(14), alpha=0.95)
    assert found.value == pytest.approx(13 * theirs.slope)
    assert 13 * theirs.low_slope == pytest.approx(found.low, abs=0.02)
    assert 13 * theirs.high_slope == pytest.approx(found.high, abs=0.02)


def test_blocks_that_were_hit_and_blocks_without_a_value_do_not_matter():
    values = [0.01 * i for i in range(20)]
    values[3], values[11], values[7] = -5.0, 4.0, math.nan
    assert drift(values).value == pytest.approx(0.19, abs=0.005)


@pytest.mark.parametrize("blocks", [5, 7, 10, 20])
def test_the_limits_hold_nothing_where_there_is_none(blocks):
    rng = np.random.default_rng(2)
    found = [drift(rng.standard_t(3, blocks)) for _ in range(400)]
    missed = sum(not one.low <= 0 <= one.high for one in found)
    assert missed <= 34  # P(more than 34 of 400 | p = .05) = 0.1 %


def test_too_few_blocks_have_no_limits():
    assert drift([0.0] * (LEAST_BLOCKS - 1)) is None
    assert drift([0.0, math.nan, 0.0, 0.0, 0.0]) is None
    assert drift([0.0] * LEAST_BLOCKS, alpha=0.001) is None


def raced(rng, *, stacks=4, blocks=10, passes=3, effect=0.0, weather=0.9):
    """Slices of a race: values, launches, turns, positions, predecessors; who follows stack 0 loses ``effect``."""
    rows, now, turn = [], 0.0, -1
    base = rng.normal(0, 0.5, stacks)
    for block in range(blocks):
        launch, before = rng.normal(0, 0.05, stacks), -1
        for _ in range(passes):
            turn += 1
            for position, stack in enumerate(rng.permutation(stacks)):
                now = weather * now + rng.normal(0, 0.1 * np.sqrt(1 - weather**2))
                value = base[stack] + launch[stack] + now + 0.05 * rng.standard_t(4)
                rows.append((value - effect * (before == 0), block * stacks + stack, turn, position, before))
                before = stack
    return [list(column) for column in zip(*rows, strict=True)]


def test_a_predecessor_that_leaves_work_behind_is_found():
    values, owners, turns, _, before = raced(np.random.default_rng(1), effect=0.2)
    assert carry_over(values, owners, turns, before) < 0.01


def test_a_place_in_the_turn_that_matters_is_found():
    values, owners, turns, positions, _ = raced(np.random.default_rng(2))
    later = [value + 0.1 * position for value, position in zip(values, positions, strict=True)]
    assert carry_over(later, owners, turns, positions) < 0.01


@pytest.mark.parametrize("which", [3, 4])
def test_weather_that_lasts_longer_than_a_slice_is_no_carry_over(which):
    rng = np.random.default_rng(3)
    found = [raced(rng, stacks=3, blocks=8, weather=0.97) for _ in range(300)]
    low = sum(carry_over(*one[:3], one[which], draws=499) < 0.05 for one in found)
    assert low <= 27  # P(more than 27 of 300 | p = .05) = 0.1 %


def test_where_every_launch_has_one_slice_the_stack_owns_it():
    values, owners, turns, _, before = raced(np.random.default_rng(4), blocks=30, passes=1, effect=0.3)
    assert carry_over(values, [owner % 4 for owner in owners], turns, before) < 0.01
    assert carry_over(values, owners, turns, before) is None


def test_the_same_values_give_the_same_p():
    told = raced(np.random.default_rng(5))
    assert carry_over(*told[:3], told[4]) == carry_over(*told[:3], told[4])


@pytest.mark.parametrize(
    "told",
    [
        ([], [], [], []),
        ([1.0], [0], [0], [0]),
        ([1.0, 2.0], [0, 1], [0, 0], [0, 1]),
        ([1.0, 2.0, 1.5, 2.5], [0, 1, 0, 1], [0, 0, 1, 1], [-1, 0, -1, 0]),
    ],
)
def test_too_little_says_nothing(told):
    assert carry_over(*told) is None


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="one owner, one turn and one group"):
        carry_over([1.0], [0, 1], [0], [0])
