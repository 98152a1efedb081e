"""Ratios come back from logarithms with limits that are numbers, however far the noise reached."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.limits import FURTHEST, growth, ratio_of

LOGS = st.floats(-20, 20)


@given(LOGS, st.floats(0, 1e300))
def test_limits_are_finite_and_hold_the_ratio(log, half):
    found = ratio_of(log, half)
    assert 0 < found.low <= found.value <= found.high < math.inf


@given(LOGS)
def test_limits_are_as_far_on_either_side(log):
    found = ratio_of(log, math.log(2))
    assert found.low == pytest.approx(found.value / 2)
    assert found.high == pytest.approx(found.value * 2)


@pytest.mark.parametrize("half", [math.inf, math.nan])
def test_without_a_half_width_there_are_no_limits(half):
    found = ratio_of(0.0, half)
    assert (found.value, found.low, found.high) == (1.0, None, None)


def test_a_growth_beyond_all_bounds_is_none():
    assert growth(math.log(1.04)) == pytest.approx(0.04)
    assert growth(FURTHEST) is None
    assert growth(math.inf) is None
