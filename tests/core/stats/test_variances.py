"""Variances: what each stack has of its own, what it leans on, and what a pair is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stackrace.stats.pairs import pairs
from stackrace.stats.variances import MOST_PRIOR, Variances, _alike, measured, spreads, unknown


def explained_by(own, blocks=8):
    """Return pairs of which stack i has the variance own[i]."""
    own = np.asarray(own, dtype=float)
    drawn = pairs(np.random.default_rng(1).normal(size=(len(own), blocks)), 10)
    return replace(drawn, variance=(own[:, None] + own) * ~np.eye(len(own), dtype=bool))


@given(arrays(float, (5,), elements=st.floats(0.5, 5)))
def test_variances_that_explain_all_pairs_are_found_exactly(own):
    found = measured(explained_by(own))
    np.testing.assert_allclose(found.own, own, rtol=1e-6)
    np.testing.assert_allclose(found.df, 7 * 4 / 5)
    np.testing.assert_allclose(found.common, own.mean(), rtol=1e-6)


def test_two_stacks_halve_what_their_only_pair_knows():
    found = measured(explained_by([1.0, 5.0]))
    np.testing.assert_allclose(found.own, 3.0)
    np.testing.assert_allclose(found.df, 3.5)
    variance, nu = found.of_pairs()
    assert variance[0, 1] == pytest.approx(6.0)
    assert nu[0, 1] == pytest.approx(7.0)


def test_a_noisy_stack_keeps_its_variance_and_its_pairs_are_worth_less():
    found = measured(explained_by([1.0, 1.0, 1.0, 1.0, 1.0, 25.0]))
    variance, nu = found.of_pairs()
    assert variance[0, 5] > 24
    assert 2 <= variance[0, 1] < 8
    assert nu[0, 5] < nu[0, 1]


def test_equal_stacks_lean_on_one_another_for_four_degrees_of_freedom_at_most():
    for k in (3, 5, 12):
        found = measured(explained_by([2.0] * k))
        np.testing.assert_allclose(found.leaning, 2.0, rtol=1e-6)
        assert (found.held - found.df <= min(k - 1, MOST_PRIOR)).all()
        assert (found.held > found.df).all()


@given(st.integers(0, 1000), st.integers(2, 8), st.integers(2, 14))
def test_a_leaning_variance_lies_between_the_own_and_the_common_and_claims_no_more_than_the_data(seed, k, n):
    found = measured(pairs(np.random.default_rng(seed).normal(size=(k, n)), 10))
    low, high = np.minimum(found.own, found.common), np.maximum(found.own, found.common)
    assert (found.leaning >= low * (1 - 1e-9)).all()
    assert (found.leaning <= high * (1 + 1e-9)).all()
    assert (found.of_pairs()[1] <= found.df.sum() * (1 + 1e-9)).all()


def test_the_trimmed_pairs_of_ten_blocks_have_fewer_degrees_of_freedom():
    drawn = np.random.default_rng(2).normal(size=(4, 10))
    np.testing.assert_allclose(measured(pairs(drawn[:, :9], 10)).df, 8 * 3 / 4)
    np.testing.assert_allclose(measured(pairs(drawn, 10)).df, 5 * 3 / 4)


def test_a_stack_without_pairs_knows_nothing_and_is_not_counted():
    values = np.random.default_rng(3).normal(size=(4, 6))
    values[3] = np.nan
    found = measured(pairs(values, 10))
    np.testing.assert_allclose(found.df, [5 * 2 / 3] * 3 + [0])
    assert found.own[3] == 0


def test_values_that_never_vary_leave_no_variance_but_degrees_of_freedom():
    variance, nu = measured(pairs(np.tile(np.arange(4.0)[:, None], 6), 10)).of_pairs()
    assert not variance.any()
    assert (nu > 2).all()


def test_nothing_is_known_before_the_first_look():
    variance, nu = unknown((2, 3)).of_pairs()
    assert not variance.any()
    assert not nu.any()


def test_only_the_stacks_asked_for_are_replaced():
    older, newer = Variances(own=np.ones(3), df=np.ones(3)), Variances(own=np.full(3, 2.0), df=np.full(3, 5.0))
    found = older.replaced(newer, np.array([True, False, True]))
    np.testing.assert_array_equal(found.own, [2, 1, 2])
    np.testing.assert_array_equal(found.df, [5, 1, 5])


def unequal(rng, k, n, times):
    """Races of stacks of which the first has so many times the others' variance."""
    values = rng.normal(size=(300, k, n))
    values[:, 0] *= np.sqrt(times)
    return pairs(values)


def test_a_stacks_own_share_is_its_own_variance_in_the_mean():
    own = spreads(unequal(np.random.default_rng(3), 6, 20, times=9.0)).mean(axis=0)
    assert own[0] / own[1:].mean() == pytest.approx(9.0, rel=0.15)


@given(st.lists(st.floats(0, 1e9), min_size=3, max_size=8), st.integers(1, 30))
def test_the_noisier_a_stack_the_less_the_others_count(times, df):
    ordered = np.sort(times)
    found = _alike(ordered, np.full(len(ordered), df))
    assert (np.diff(found) <= 1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_a_noisy_stack_that_left_says_nothing_of_the_others_and_a_quiet_one_does():
    own, df, left = np.array([1.0, 1.0, 1.0, 25.0]), np.full(4, 2.0), np.array([False, False, False, True])
    assert Variances(own=own, df=df).common == pytest.approx(7.0)
    assert Variances(own=own, df=df, left=left).common[:3] == pytest.approx(1.0, rel=0.01)
    quiet = Variances(own=np.array([1.0, 1.0, 1.0, 0.5]), df=df, left=left)
    assert quiet.common[:3] == pytest.approx(0.875, rel=0.01)


def test_stacks_that_are_not_measured_again_have_left():
    older, newer = unknown((3,)), Variances(own=np.ones(3), df=np.ones(3))
    now = older.replaced(newer, np.array([True, True, False]))
    np.testing.assert_array_equal(now.left, [False, False, True])
    np.testing.assert_array_equal(now.replaced(newer, np.full(3, False)).left, now.left)
