"""The simulations in small: the goals hold for some hundred races on fixed seeds; `make bench-method` runs more."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.method.noise import MODELS, SD, blocks, sequence
from benchmarks.method.shares import upper_bound
from benchmarks.method.trials import coverage, false_orders, false_orders_cut, power, reversals

BY_NAME = {model.name: model for model in MODELS}


@pytest.mark.parametrize("name", BY_NAME)
def test_identical_stacks_are_hardly_ever_ordered_under_any_noise(name):
    assert false_orders(BY_NAME[name], 5, 200, seed=1) <= 0.065


@pytest.mark.parametrize("stacks", [2, 12])
def test_nor_are_fewer_or_more_of_them(stacks):
    assert false_orders(BY_NAME["drift, rho 0.95"], stacks, 150, seed=2) <= 0.065


def test_one_very_noisy_stack_among_twelve_is_not_ordered_falsely_either():
    assert false_orders(BY_NAME["one 25 x variance"], 12, 200, seed=3) <= 0.065


def test_a_budget_that_ends_between_two_looks_makes_for_no_more_false_orders_than_allowed():
    assert false_orders_cut(BY_NAME["independent"], 5, 200, seed=4) <= 0.065


def test_pairs_are_covered_as_promised_at_every_look():
    held = coverage(BY_NAME["drift, rho 0.90"], 5, 200, seed=4)
    assert all(0.93 <= share <= 0.985 for share in held)


def test_what_is_ten_percent_ahead_wins_and_is_proved_better():
    found = power(BY_NAME["independent"], 5, 0.10, SD, 60, seed=5)
    assert found.right >= 0.98
    assert found.ordered >= 0.98
    assert found.blocks <= 20


def test_what_is_two_percent_ahead_is_told_to_be_within_what_matters():
    found = power(BY_NAME["independent"], 2, 0.02, 0.03, 60, seed=6)
    assert found.answered >= 0.98
    assert found.blocks <= 20


def test_three_runs_in_sequence_reverse_pairs_that_blocks_do_not():
    found = reversals(BY_NAME["drift, rho 0.95"], 12, 60, seed=7)
    assert found["blocks and looks"] <= 0.05
    assert found["three sequential means"] >= 0.45
    assert found["best of three"] >= 0.45


@pytest.mark.parametrize("measured", [blocks, sequence])
@pytest.mark.parametrize("name", BY_NAME)
def test_every_noise_is_drawn_for_identical_stacks_and_always_the_same(name, measured):
    drawn = measured(BY_NAME[name], np.random.default_rng(8), 200, 4, 10)
    again = measured(BY_NAME[name], np.random.default_rng(8), 200, 4, 10)
    np.testing.assert_array_equal(drawn, again)
    means = drawn.mean(axis=(0, 2))
    assert drawn.shape == (200, 4, 10)
    assert np.ptp(means) < 0.03


def test_the_upper_bound_is_above_the_share_and_nears_it():
    assert upper_bound(0.0, 100) == pytest.approx(0.0263, abs=1e-3)
    assert 0.05 < upper_bound(0.05, 2000) < upper_bound(0.05, 200) < 0.1
