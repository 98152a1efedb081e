"""Shrinking: a pair's variance leans on all pairs', and is worth no more than its data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.pairs import pairs
from stackrace.stats.shrink import degrees, shrunken


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_the_variance_lies_between_its_own_and_the_common_one():
    found = pairs(np.random.default_rng(3).normal(size=(6, 8)))
    variance, _ = shrunken(found)
    own, shrunk = off_diagonal(found.variance), off_diagonal(variance)
    df = found.df[0, 1]
    np.testing.assert_allclose(shrunk, (5 * own.mean() + df * own) / (5 + df))


def test_two_stacks_have_nobody_to_lean_on():
    found = pairs(np.random.default_rng(4).normal(size=(2, 6)))
    variance, nu = shrunken(found)
    assert variance[0, 1] == pytest.approx(found.variance[0, 1])
    assert nu[0, 1] == pytest.approx(found.df[0, 1])


@pytest.mark.parametrize(("n", "nu"), [(5, 13), (7, 15), (10, 16), (14, 20), (20, 22), (28, 28), (40, 34)])
def test_twelve_stacks_are_worth_df_plus_d0_at_every_planned_look(n, nu):
    _, found = shrunken(pairs(np.random.default_rng(5).normal(size=(12, n))))
    np.testing.assert_allclose(off_diagonal(found), nu)


def test_degrees_of_freedom_match_the_spread_of_the_shrunken_variance():
    rng = np.random.default_rng(6)
    for k, n in ((3, 2), (3, 4), (4, 3), (12, 2)):
        drawn = [shrunken(pairs(rng.normal(size=(k, n)))) for _ in range(600)]
        variances = np.array([variance[0, 1] for variance, _ in drawn])
        spread = 2 * variances.mean() ** 2 / variances.var()
        held = degrees(np.array([n - 1]), prior=k - 1, pooled=(k - 1) * (n - 1))[0]
        assert held <= min(1.2 * spread, n - 1 + k - 1)


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
