"""Limits: how many standard errors hold for all pairs at once, and ratios that come back from logarithms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from stackrace.stats import limits
from stackrace.stats.limits import FURTHEST, against_best, critical, each, growth, ratio_of

SIMULATED = {5: 5.11, 7: 4.94, 10: 4.82, 14: 4.63, 20: 4.52, 28: 4.36, 40: 4.21}
"""The method's table for 12 stacks: a simulation, so known to about 0.06."""


@pytest.mark.parametrize(("n", "c"), SIMULATED.items())
def test_twelve_stacks_need_what_the_method_says(n, c):
    df = n - 2 * (n // 5) - 1
    assert critical(12, df + 11, 0.007) == pytest.approx(c, abs=0.07)


@pytest.mark.parametrize("stacks", [3, 12])
@pytest.mark.parametrize("nu", [1, 2.5, 13])
@pytest.mark.parametrize("alpha", [0.007, 0.05])
def test_the_quadrature_agrees_with_another_one(stacks, nu, alpha):
    expected = scipy.stats.studentized_range.ppf(1 - alpha, stacks, nu) / np.sqrt(2)
    assert critical(stacks, nu, alpha) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("quantile", "statistic", "stacks"),
    [
        (critical, lambda z: np.ptp(z, axis=1), 5),
        (against_best, lambda z: z[:, 1:].max(axis=1) - z[:, 0], 3),
        (against_best, lambda z: z[:, 1:].max(axis=1) - z[:, 0], 10),
    ],
)
def test_the_quadrature_agrees_with_drawn_numbers(quantile, statistic, stacks):
    rng = np.random.default_rng(8)
    drawn = statistic(rng.normal(size=(400_000, stacks))) / np.sqrt(2) / np.sqrt(rng.chisquare(6, 400_000) / 6)
    assert np.mean(drawn > quantile(stacks, 6, 0.007)) == pytest.approx(0.007, abs=0.0006)


@pytest.mark.parametrize("nu", [1, 2, 3, 10])
@pytest.mark.parametrize(("quantile", "tail"), [(critical, 0.0035), (against_best, 0.007)])
def test_two_stacks_need_students_t_and_so_does_one(nu, quantile, tail):
    assert quantile(2, nu, 0.007) == pytest.approx(scipy.stats.t.ppf(1 - tail, nu), rel=1e-3)
    assert quantile(1, nu, 0.007) == quantile(2, nu, 0.007)


def test_two_or_three_launches_give_wide_limits_but_limits():
    narrowing = [critical(3, nu, 0.007) for nu in (1.8, 2.7, 3.2, 5)]
    assert narrowing == sorted(narrowing, reverse=True)
    assert 15 < narrowing[0] < 30


@settings(max_examples=25)
@given(st.integers(2, 20), st.floats(1, 60), st.floats(0.002, 0.2), st.sampled_from([critical, against_best]))
def test_more_stacks_less_data_and_more_confidence_need_more(stacks, nu, alpha, quantile):
    c = quantile(stacks, nu, alpha)
    assert quantile(stacks + 1, nu, alpha) > c
    assert quantile(stacks, nu + 1, alpha) < c
    assert quantile(stacks, nu, alpha / 2) > c
    assert against_best(stacks, nu, alpha) < critical(stacks, nu, alpha)


@pytest.mark.parametrize(("stacks", "nu", "alpha"), [(0, 5, 0.01), (3, 0, 0.01), (3, np.nan, 0.01), (3, 5, 1)])
@pytest.mark.parametrize("quantile", [critical, against_best])
def test_what_has_no_limits_is_refused(quantile, stacks, nu, alpha):
    with pytest.raises(ValueError, match="no limits"):
        quantile(stacks, nu, alpha)


def test_a_limit_is_looked_up_once():
    critical(9, 8.0, 0.007)
    before = limits._solve.cache_info()
    critical(9, 8.0, 0.007)
    assert limits._solve.cache_info().hits == before.hits + 1


DUNNETT = {(1, 10): 1.81, (2, 10): 2.15, (3, 10): 2.34, (9, 10): 2.81, (3, 5): 2.68, (3, 20): 2.19, (3, 60): 2.10}
"""One-sided 5 % points by the number of comparisons and degrees of freedom, as Dunnett 1955 prints them."""


@pytest.mark.parametrize(("comparisons", "nu"), DUNNETT)
def test_limits_against_the_best_are_those_of_the_printed_table(comparisons, nu):
    assert against_best(comparisons + 1, nu, 0.05) == pytest.approx(DUNNETT[comparisons, nu], abs=0.011)


@given(st.lists(st.floats(0.5, 60), min_size=1, max_size=6))
def test_each_width_is_that_of_its_own_degrees_of_freedom_or_up_to_two_percent_fewer(nu):
    found = each(critical, 4, np.array(nu), 0.05)
    for width, one in zip(found, nu, strict=True):
        assert critical(4, one, 0.05) * (1 - 1e-4) <= width <= critical(4, max(one * 0.97 - 0.01, 0.01), 0.05)


def test_what_is_not_known_has_no_width_and_the_shape_stays():
    found = each(against_best, 3, np.array([[0.0, 5.0], [np.nan, -1.0]]), 0.05)
    assert found.shape == (2, 2)
    assert np.isnan(found).tolist() == [[True, False], [True, True]]


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
