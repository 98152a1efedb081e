"""Shrinking: each stack's own variance, and how much the common one counts beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stackrace.stats.pairs import pairs
from stackrace.stats.variances import priors, spreads


def unequal(rng, k, n, times):
    """Races of stacks of which the first has so many times the others' variance."""
    values = rng.normal(size=(300, k, n))
    values[:, 0] *= np.sqrt(times)
    return pairs(values)


def test_a_stacks_own_share_is_its_own_variance_in_the_mean():
    own = spreads(unequal(np.random.default_rng(3), 6, 20, times=9.0)).mean(axis=0)
    assert own[0] / own[1:].mean() == pytest.approx(9.0, rel=0.15)


@given(arrays(float, (5,), elements=st.floats(0.5, 5)))
def test_shares_that_explain_all_pairs_are_found_exactly(shares):
    found = pairs(np.random.default_rng(3).normal(size=(5, 8)))
    exact = replace(found, variance=(shares[:, None] + shares) * ~np.eye(5, dtype=bool))
    np.testing.assert_allclose(spreads(exact), shares, rtol=1e-6)


@given(st.lists(st.floats(0, 1e9), min_size=3, max_size=8), st.integers(1, 30), st.integers(1, 11))
def test_the_noisier_a_stack_the_less_the_others_count(times, df, most):
    ordered = np.sort(times)
    found = priors(ordered, np.full(len(ordered), df), most)
    assert (np.diff(found) <= 1e-12).all()
    assert ((found >= 0) & (found <= most)).all()


def test_values_without_noise_and_stacks_without_data_lean_like_all_others():
    usual = priors(np.array([1.0]), np.array([4]), 4)
    np.testing.assert_allclose(priors(np.array([np.nan]), np.array([4]), 4), usual)
    assert 0 < priors(np.array([1.0]), np.array([0]), 4)[0] <= 4


def test_a_stack_that_nobody_met_has_no_share():
    values = np.random.default_rng(7).normal(size=(4, 6))
    values[3] = np.nan
    own = spreads(pairs(values))
    assert own[3] == 0
    assert (own[:3] > 0).all()
