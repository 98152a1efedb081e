"""Shrunken variances: a pair's leans on all pairs', and is worth no more than its data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.allpairs.looks import look
from stackrace.stats.allpairs.shrunken import degrees, shrunken
from stackrace.stats.limits import critical
from stackrace.stats.pairs import pairs
from stackrace.stats.shrink import spreads


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def unequal(rng, k, n, times):
    """Races of stacks of which the first has so many times the others' variance."""
    values = rng.normal(size=(300, k, n))
    values[:, 0] *= np.sqrt(times)
    return pairs(values)


@given(st.integers(0, 1000), st.integers(3, 8), st.integers(2, 12))
def test_a_stacks_variance_lies_between_its_own_and_the_common_one(seed, k, n):
    found = pairs(np.random.default_rng(seed).normal(size=(k, n)))
    variance, _ = shrunken(found)
    own, leaning = spreads(found), spreads(replace(found, variance=np.nan_to_num(variance)))
    common = own.mean()
    assert (leaning >= np.minimum(own, common) * (1 - 1e-6)).all()
    assert (leaning <= np.maximum(own, common) * (1 + 1e-6)).all()


def test_a_stack_far_noisier_than_the_rest_keeps_its_noise_and_a_quiet_one_borrows():
    variance, nu = shrunken(unequal(np.random.default_rng(4), 12, 10, times=25.0))
    noisy, quiet = np.median(variance[:, 0, 1]), np.median(variance[:, 1, 2])
    assert noisy > 17
    assert quiet > 2
    assert np.median(nu[:, 0, 1]) < 8 < 15 < np.median(nu[:, 1, 2])


def test_one_stack_of_25_times_the_variance_is_hardly_ever_ordered_falsely():
    rng = np.random.default_rng(5)
    races = rng.normal(size=(400, 12, 10))
    races[:, 0] *= 5
    false = np.zeros(400, dtype=bool)
    for n in (5, 7, 10):
        family = look(races[..., :n])
        false |= (np.abs(family.estimate) > family.half_width).any(axis=(-2, -1))
    assert false.mean() <= 0.05


def test_two_stacks_have_nobody_to_lean_on():
    found = pairs(np.random.default_rng(4).normal(size=(2, 6)))
    variance, nu = shrunken(found)
    assert variance[0, 1] == pytest.approx(found.variance[0, 1])
    assert nu[0, 1] == pytest.approx(found.df[0, 1])


@pytest.mark.parametrize(("n", "df"), [(5, 2), (7, 4), (10, 5), (14, 9), (20, 11), (28, 17), (40, 23)])
def test_twelve_equally_noisy_stacks_are_worth_their_pairs_and_the_common_variance(n, df):
    drawn = pairs(np.random.default_rng(5).normal(size=(12, n)))
    _, found = shrunken(replace(drawn, variance=2.0 * ~np.eye(12, dtype=bool)))
    np.testing.assert_allclose(off_diagonal(found), 11 + df * 20 / 11, rtol=0.06)


@pytest.mark.parametrize(("k", "n"), [(3, 2), (3, 4), (4, 3), (12, 2), (12, 5)])
def test_limits_of_the_shrunken_variance_are_never_too_narrow(k, n):
    found = pairs(np.random.default_rng(6).normal(size=(3000, k, n)))
    variance, nu = shrunken(found)
    score = found.estimate[:, 0, 1] / np.sqrt(variance[:, 0, 1] / n)
    inside = [abs(z) <= critical(2, float(worth), 0.05) for z, worth in zip(score, nu[:, 0, 1], strict=True)]
    assert np.mean(inside) >= 0.94


def test_values_that_never_vary_leave_no_doubt():
    variance, nu = shrunken(pairs(np.tile(np.arange(4.0)[:, None], 6)))
    assert (off_diagonal(variance) == 0).all()
    assert (off_diagonal(nu) > 2).all()


def test_a_stack_that_nobody_met_stays_unknown():
    values = np.random.default_rng(7).normal(size=(4, 6))
    values[3] = np.nan
    variance, nu = shrunken(pairs(values))
    assert np.isnan(variance[3]).all()
    assert np.isfinite(nu[0, 1])


def test_nothing_is_known_after_one_launch_each():
    variance, nu = shrunken(pairs(np.array([[1.0], [2.0], [3.0]])))
    assert np.isnan(variance).all()
    assert np.isnan(nu).all()


def test_a_pair_without_two_common_blocks_borrows_no_variance():
    gap = np.nan
    variance, nu = shrunken(pairs(np.array([[1.0, 1.1, 1.2], [2.0, 2.2, 2.1], [gap, gap, 3.0]])))
    assert np.isfinite(variance[0, 1])
    assert np.isnan(variance[0, 2])
    assert np.isnan(nu[0, 2])


@given(st.integers(1, 30), st.integers(2, 30))
def test_the_degrees_never_exceed_what_was_asked_or_fall_below_the_pairs_own(df, k):
    nu = degrees(np.array([df]), prior=k - 1, pooled=(k - 1) * df)[0]
    assert df - 1e-9 <= nu <= df + k - 1
