"""Limits from resampled blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.bootstrap import expanded


@pytest.mark.parametrize("blocks", [5, 7, 20])
def test_of_a_mean_they_cover_what_the_t_limits_cover(blocks):
    rng = np.random.default_rng(blocks)
    inside = 0
    for _ in range(600):
        values = rng.normal(size=blocks)
        means = values[rng.integers(0, blocks, (1000, blocks))].mean(axis=1)
        low, high = expanded(means, blocks, 0.95)
        inside += low <= 0 <= high
    assert 0.92 <= inside / 600 <= 0.98


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.integers(2, 40))
def test_limits_are_drawn_values_in_order(drawn, blocks):
    low, high = expanded(np.array(drawn), blocks, 0.95)
    assert low <= high
    assert {low, high} <= set(drawn)


def test_an_infinite_share_stays_infinite():
    assert expanded(np.array([1.0] * 50 + [np.inf] * 50), 10, 0.95) == (1.0, np.inf)
