"""Looks by the rule of all pairs: pairs over time, simulated where only simulation can tell."""

from __future__ import annotations

import numpy as np
import pytest

from stackrace.stats.allpairs.looks import ALPHA, LOOKS, followed, last_look, look
from stackrace.stats.allpairs.shrunken import shrunken
from stackrace.stats.limits import critical
from stackrace.stats.pairs import pairs

LAUNCH_SD = 0.05


def drifting(rng, k, n):
    """Identical stacks in a machine whose speed wanders from block to block."""
    return rng.normal(0, LAUNCH_SD, (k, n)) + np.cumsum(rng.normal(0, 0.1, n))


def any_apart(family):
    return bool((np.abs(family.estimate) > family.half_width).any())


def test_a_look_is_planned_after_five_blocks_and_then_ever_more_rarely():
    assert [last_look(n) for n in (0, 4, 5, 6, 7, 39, 40, 99)] == [0, 0, 5, 5, 7, 28, 40, 40]


@pytest.mark.parametrize("k", [2, 5])
def test_limits_at_95_percent_cover_the_truth_in_93_to_97_percent_of_families(k):
    """400 races see limits that cover 90 %, or 99.5 %."""
    rng = np.random.default_rng(8)
    missed = sum(any_apart(look(drifting(rng, k, 10), alpha=0.05)) for _ in range(400))
    assert 0.93 <= 1 - missed / 400 <= 0.97


@pytest.mark.parametrize("k", [2, 5, 12])
def test_each_pair_by_itself_is_covered_in_93_to_98_percent_of_races(k):
    """400 races, of twelve stacks with 66 pairs each, see limits that cover 90 %, or all."""
    rng, away = np.random.default_rng(9), ~np.eye(k, dtype=bool)
    inside = []
    for _ in range(400):
        found = pairs(drifting(rng, k, 10))
        variance, nu = shrunken(found)
        score = np.abs(found.estimate)[away] / np.sqrt(variance[away] / 10)
        inside.append(np.mean([s <= critical(2, float(n), 0.05) for s, n in zip(score, nu[away], strict=True)]))
    assert 0.93 <= np.mean(inside) <= 0.98  # quiet stacks borrow noise, which errs on the safe side


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10])
def test_twelve_identical_stacks_are_hardly_ever_ordered_at_one_look(n):
    """300 races see a rule that orders one race in 25."""
    rng = np.random.default_rng(10 + n)
    false = sum(any_apart(look(drifting(rng, 12, n))) for _ in range(300))
    assert false / 300 <= 0.02


@pytest.mark.parametrize("k", [2, 6])
def test_seven_looks_together_order_identical_stacks_in_five_percent_of_races_at_most(k):
    """300 races see a rule that orders one race in ten."""
    rng = np.random.default_rng(20)
    false = 0
    for _ in range(300):
        race = drifting(rng, k, LOOKS[-1])
        false += any(any_apart(look(race[:, :n])) for n in LOOKS)
    assert false / 300 <= 0.065


def test_a_difference_of_thirty_percent_is_found_at_the_first_look_mostly_and_at_the_second_almost_always():
    rng = np.random.default_rng(11)
    found = {n: [] for n in LOOKS[:2]}
    for _ in range(200):
        race = drifting(rng, 6, LOOKS[1])
        race[0] += np.log(1.3)
        for n, shares in found.items():
            family = look(race[:, :n])
            shares.append((family.estimate[0, 1:] > family.half_width[0, 1:]).mean())
    assert np.mean(found[5]) > 0.83
    assert np.mean(found[7]) > 0.99


def test_a_pair_of_which_one_was_dropped_keeps_what_was_decided():
    rng = np.random.default_rng(12)
    values = rng.normal(0, 0.02, (3, 20))
    values[0] += 0.2
    values[2, 5:] = np.nan
    values[1, 5:] += rng.normal(0, 2, 15)  # an uproar after the third stack had left
    then, now = look(values[:, :5]), followed(values)
    assert then.estimate[0, 2] > then.half_width[0, 2]
    assert now.half_width[0, 2] == then.half_width[0, 2] < look(values).half_width[0, 2]
    assert now.half_width[0, 1] == look(values).half_width[0, 1]


def test_without_anybody_dropped_the_last_look_is_all():
    values = np.random.default_rng(13).normal(size=(4, 12))
    np.testing.assert_array_equal(followed(values).half_width, look(values).half_width)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (2, 1), (3, 1)])
def test_no_pair_and_no_second_block_mean_no_limits(shape):
    family = followed(np.ones(shape))
    away = ~np.eye(shape[0], dtype=bool)
    assert np.isinf(family.half_width[away]).all()
    assert not family.half_width.diagonal().any()
    assert ALPHA < 0.05 / 7
