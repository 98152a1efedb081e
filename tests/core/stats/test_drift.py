"""Drift: from the first block to the last, whatever single blocks were hit by."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from stackrace.stats.drift import LEAST_BLOCKS, drift


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
