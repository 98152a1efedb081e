"""Warm-up: when a series of rates has become steady."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.warmup import _change_points, steadiness

BIN_S = 0.25
RATES = st.lists(st.one_of(st.floats(0, 1e6), st.just(float("nan"))), max_size=60)


def noisy(seconds, rate=1000.0, sd=0.02, seed=1):
    n = round(seconds / BIN_S)
    return rate * np.exp(np.random.default_rng(seed).normal(0, sd, n))


def test_a_level_series_is_steady_from_its_start():
    found = steadiness(noisy(8), BIN_S)
    assert found.steady
    assert found.since_s == 0
    assert found.length_s == pytest.approx(8)


def test_the_steady_part_begins_where_the_level_changed():
    found = steadiness(np.concatenate([noisy(4, 500), noisy(8, 1000, seed=2)]), BIN_S)
    assert found.steady
    assert found.since_s == pytest.approx(4, abs=0.5)


def test_too_short_a_last_stretch_is_not_steady_but_a_short_budget_may_take_it():
    rates = np.concatenate([noisy(4, 500, 0.002), noisy(2, 1000, 0.002, seed=2)])
    assert not steadiness(rates, BIN_S).steady
    assert steadiness(rates, BIN_S, least_s=1.0).steady


def test_a_slow_climb_is_not_steady():
    rates = noisy(3, sd=0.002) * np.exp(0.03 * np.arange(12) * BIN_S)
    found = steadiness(rates, BIN_S, least_s=0.5)
    assert not found.steady
    assert found.drift is not None
    assert found.drift > 0.01


def test_a_single_hit_bin_is_no_change_of_state():
    for hit in (0, 10, -1):
        rates = noisy(8)
        rates[hit] *= 0.6
        found = steadiness(rates, BIN_S)
        assert found.steady
        assert found.since_s == 0


def test_rates_without_any_noise_are_steady():
    assert steadiness([1000.0] * 20, BIN_S).steady


@pytest.mark.parametrize("rates", [[], [1000.0], [float("nan")] * 9])
def test_next_to_nothing_is_not_steady(rates):
    found = steadiness(rates, BIN_S)
    assert not found.steady
    assert found.drift is None


def test_gaps_and_silent_bins_are_borne():
    rates = [0.0] * 8 + [float("nan")] + list(noisy(6))
    found = steadiness(rates, BIN_S)
    assert found.steady
    assert found.since_s == pytest.approx(9 * BIN_S)


def test_bins_need_a_length():
    with pytest.raises(ValueError, match="hold nothing"):
        steadiness([1.0], 0.0)


@given(RATES, st.floats(0.01, 1))
def test_any_series_gets_an_answer_within_its_length(rates, bin_s):
    found = steadiness(rates, bin_s)
    assert 0 <= found.since_s <= len(rates) * bin_s
    assert 0 <= found.length_s <= len(rates) * bin_s * (1 + 1e-9)
    assert not found.steady or (found.drift is not None and abs(found.drift) < 0.01)


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100))
def test_what_the_rates_are_measured_in_does_not_matter(seed, scale):
    rates = np.concatenate([noisy(3, 500, seed=seed), noisy(5, 1000, seed=seed + 1)])
    one, other = steadiness(rates, BIN_S), steadiness(rates * scale, BIN_S)
    assert one.since_s == other.since_s
    assert one.drift == pytest.approx(other.drift, abs=1e-9)


def brute(series, penalty, least):
    """The best cost of any partition, by trying all last stretches of all partitions."""
    costs = {0: -penalty}
    for end in range(least, len(series) + 1):
        options = [
            costs[start] + ((series[start:end] - series[start:end].mean()) ** 2).sum() + penalty
            for start in costs
            if end - start >= least
        ]
        costs[end] = min(options)
    return costs[len(series)]


@pytest.mark.parametrize("seed", range(5))
def test_the_partition_is_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    series = rng.normal(0, 0.05, 40) + np.repeat(rng.normal(0, 0.2, 4), 10)
    steps = np.diff(series)
    sigma = 1.4826 * np.median(np.abs(steps - np.median(steps))) / np.sqrt(2)
    penalty = 3 * sigma**2 * np.log(len(series))
    bounds = [0, *_change_points(series), len(series)]
    stretches = [series[a:b] for a, b in pairwise(bounds)]
    cost = sum(((s - s.mean()) ** 2).sum() for s in stretches) + penalty * (len(stretches) - 1)
    assert cost == pytest.approx(brute(series, penalty, 4))
