"""Pairs: trimmed differences over common blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stackrace.stats.pairs import ROBUST_FROM, pairs, trimmed, trimmed_from

LOGS = st.floats(min_value=-9, max_value=14, allow_nan=False)
TABLES = hnp.arrays(
    float, st.tuples(st.integers(1, 5), st.integers(1, 14)), elements=st.one_of(LOGS, LOGS, LOGS, st.just(np.nan))
)


def test_mean_and_variance_agree_with_another_implementation_of_yuen():
    rng = np.random.default_rng(1)
    for n in (2, 3, 4, 5, 7, 10, 14, 40):
        x = rng.normal(0.1, 1, n)
        mean, variance = trimmed(x)
        g = n // 5
        wins = np.asarray(scipy.stats.mstats.winsorize(x, limits=(g / n, g / n)))
        h = n - 2 * g
        assert mean == pytest.approx(scipy.stats.trim_mean(x, 0.2))
        assert variance / n == pytest.approx((n - 1) * wins.var(ddof=1) / (h * (h - 1)))


def test_fewer_than_five_values_give_the_plain_mean_and_variance():
    mean, variance = trimmed(np.array([1.0, 2.0, 6.0]))
    assert (mean, variance) == (pytest.approx(3.0), pytest.approx(7.0))


def test_one_value_has_no_variance():
    mean, variance = trimmed(np.array([4.0]))
    assert mean == 4.0
    assert np.isnan(variance)


@pytest.mark.parametrize("values", [[], [1.0, np.nan]])
def test_gaps_are_refused(values):
    with pytest.raises(ValueError, match="at least one value"):
        trimmed(np.array(values))


def test_a_list_of_numbers_is_no_table():
    with pytest.raises(ValueError, match="one row of blocks per stack"):
        pairs(np.array([1.0, 2.0]))


def test_what_is_left_after_trimming():
    assert [trimmed_from(n) for n in (1, 2, 4, 5, 7, 10, 14, 20, 28, 40)] == [1, 2, 4, 3, 5, 6, 10, 12, 18, 24]


def test_one_hit_launch_hardly_moves_a_trimmed_pair():
    quiet = np.zeros((2, 10))
    quiet[0] = np.linspace(0.09, 0.11, 10)
    hit = quiet.copy()
    hit[0, 3] -= 0.5
    assert pairs(hit).estimate[0, 1] == pytest.approx(pairs(quiet).estimate[0, 1], abs=0.003)


@given(TABLES)
def test_pairs_are_antisymmetric(values):
    found = pairs(values)
    np.testing.assert_array_equal(found.estimate, -found.estimate.T)
    np.testing.assert_array_equal(found.variance, found.variance.T)
    np.testing.assert_array_equal(found.blocks, found.blocks.T)
    np.testing.assert_array_equal(found.df, found.df.T)


@given(TABLES, st.randoms(use_true_random=False))
def test_neither_the_order_of_stacks_nor_that_of_blocks_matters(values, dice):
    stacks = dice.sample(range(values.shape[0]), values.shape[0])
    blocks = dice.sample(range(values.shape[1]), values.shape[1])
    found, other = pairs(values), pairs(values[stacks][:, blocks])
    np.testing.assert_allclose(other.estimate, found.estimate[np.ix_(stacks, stacks)], atol=1e-9)
    np.testing.assert_allclose(other.variance, found.variance[np.ix_(stacks, stacks)], atol=1e-9)


@given(TABLES, LOGS, st.floats(0.1, 10))
def test_shifting_a_stack_shifts_its_pairs_and_scaling_scales_them(values, shift, scale):
    found = pairs(values)
    moved = values.copy()
    moved[0] += shift
    np.testing.assert_allclose(pairs(moved).estimate[0, 1:], found.estimate[0, 1:] + shift, atol=1e-9)
    np.testing.assert_allclose(pairs(moved).variance, found.variance, atol=1e-9)
    np.testing.assert_allclose(pairs(scale * values).estimate, scale * found.estimate, atol=1e-8)
    np.testing.assert_allclose(pairs(scale * values).variance, scale**2 * found.variance, rtol=1e-9, atol=1e-7)


@given(TABLES, st.data())
def test_weather_that_all_stacks_share_leaves_no_trace(values, data):
    weather = data.draw(hnp.arrays(float, values.shape[1], elements=LOGS))
    np.testing.assert_allclose(pairs(values + weather).estimate, pairs(values).estimate, atol=1e-9)


@pytest.mark.parametrize("n", [5, 7, ROBUST_FROM - 1])
def test_below_the_number_where_trimming_pays_nothing_is_cut_off(n):
    x = np.random.default_rng(2).normal(size=n)
    mean, variance = trimmed(x, ROBUST_FROM)
    assert mean == pytest.approx(x.mean())
    assert variance == pytest.approx(x.var(ddof=1))
    assert trimmed_from(n, ROBUST_FROM) == n


def test_from_that_number_on_a_fifth_is():
    x = np.random.default_rng(3).normal(size=ROBUST_FROM)
    assert trimmed(x, ROBUST_FROM) == trimmed(x)
    assert trimmed_from(ROBUST_FROM, ROBUST_FROM) == 6


def test_each_pair_is_trimmed_by_its_own_number_of_common_blocks():
    values = np.random.default_rng(4).normal(size=(3, 12))
    values[2, :5] = np.nan
    found = pairs(values, ROBUST_FROM)
    assert found.df[0, 1] == 12 - 2 * 2 - 1
    assert found.df[0, 2] == 7 - 1
    assert found.estimate[0, 2] == pytest.approx((values[0] - values[2])[5:].mean())
