"""Limits from one run each, and from resampled blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.bootstrap import _LEAST_BINS, expanded, throughput_ratio


def series(dice, n, correlation=0.0, spread=0.05, mean=1000.0):
    """Rates whose logarithms are AR(1)."""
    shocks = dice.normal(size=n) * spread * math.sqrt(1 - correlation**2)
    logs = [dice.normal() * spread]
    for shock in shocks[1:]:
        logs.append(correlation * logs[-1] + shock)
    return mean * np.exp(logs)


def test_the_same_runs_give_the_same_limits():
    dice = np.random.default_rng(1)
    one, other = series(dice, 50), series(dice, 50)
    assert throughput_ratio(one, other) == throughput_ratio(one, other)


def test_twice_as_fast_is_twice_as_fast():
    dice = np.random.default_rng(2)
    found = throughput_ratio(series(dice, 100), series(dice, 100, mean=2000.0))
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(2.0, rel=0.05)
    assert found.low > 1.8


@pytest.mark.parametrize(("n", "correlation", "least"), [(20, 0.0, 0.89), (50, 0.3, 0.88), (300, 0.6, 0.86)])
def test_the_limits_cover_what_varies_within_the_runs(n, correlation, least):
    dice = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        found = throughput_ratio(series(dice, n, correlation), series(dice, n, correlation), draws=300)
        hits += found.low <= math.exp(0) <= found.high
    assert least <= hits / 300 <= 0.99


def test_constant_rates_leave_no_doubt():
    found = throughput_ratio([100.0] * 30, [150.0] * 40)
    assert (found.low, found.value, found.high) == pytest.approx((1.5, 1.5, 1.5))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([100.0] * (_LEAST_BINS - 1), [100.0] * 50),
        ([100.0] * 50, [100.0]),
        ([0.0] * 49 + [100.0], [100.0] * 50),
        ([100.0] * 50, [0.0] * 50),
    ],
)
def test_runs_that_are_too_short_or_too_empty_have_no_limits(before, after):
    found = throughput_ratio(before, after)
    assert (found.low, found.high) == (None, None)


def test_a_run_without_answers_has_no_ratio():
    assert math.isnan(throughput_ratio([0.0] * 30, [1.0] * 30).value)


def test_a_series_without_bins_is_refused():
    with pytest.raises(ValueError, match="no mean"):
        throughput_ratio([], [1.0])


def test_an_hour_is_no_more_work_than_a_minute():
    dice = np.random.default_rng(4)
    found = throughput_ratio(series(dice, 36_000), series(dice, 36_001))
    assert found.low < 1 < found.high
    assert found.high - found.low < 0.01


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
