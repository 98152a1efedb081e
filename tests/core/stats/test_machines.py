"""Whether machines are equal, from the values of their blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.method.noise import MODELS, blocks
from benchmarks.method.trials.drawn import NARROW, REALISTIC, Cell
from benchmarks.method.trials.machines import machines, said

from stackrace.stats.limits import critical
from stackrace.stats.machines import same_ratios, same_speed, shifts
from stackrace.stats.values import MachineVerdict

PLAIN = MODELS[0]


def noise(*shape, sd=0.02, seed=3):
    return np.random.default_rng(seed).normal(0, sd, shape)


def test_the_ratio_of_two_machines_has_welchs_limits():
    own, other = np.log([100, 102, 98, 101]), np.log([97, 95, 96])
    ratio, verdict = same_speed(own, other, 0.05)
    a, b = own.var(ddof=1) / 4, other.var(ddof=1) / 3
    half = critical(2, (a + b) ** 2 / (a**2 / 3 + b**2 / 2), 0.05) * math.sqrt(a + b)
    mean = own.mean() - other.mean()
    limits = tuple(math.exp(end) for end in (mean, mean - half, mean + half))
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx(limits)
    assert verdict is MachineVerdict.UNEQUAL


@pytest.mark.parametrize(
    ("apart", "sd", "verdict"),
    [
        (0.0, 0.01, MachineVerdict.EQUAL),
        (0.0, 0.2, MachineVerdict.UNKNOWN),
        (0.1, 0.01, MachineVerdict.UNEQUAL),
        (0.02, 0.001, MachineVerdict.EQUAL),  # it differs, but by nothing that matters
    ],
)
def test_equal_speeds_differ_by_nothing_that_matters(apart, sd, verdict):
    values = noise(2, 8, sd=sd)
    assert same_speed(values[0] + apart, values[1], 0.05)[1] is verdict


def test_a_single_block_has_no_limits_and_none_no_ratio():
    ratio, verdict = same_speed([1.0], [1.1, 1.2], 0.05)
    assert (ratio.low, verdict) == (None, MachineVerdict.UNKNOWN)
    assert same_speed([math.nan], [1.0, 1.1], 0.05) == (None, MachineVerdict.UNKNOWN)


def test_values_without_any_noise_have_limits_without_width():
    assert same_speed([1.0, 1.0], [1.0, 1.0], 0.05)[1] is MachineVerdict.EQUAL
    assert same_speed([1.2, 1.2], [1.0, 1.0], 0.05)[1] is MachineVerdict.UNEQUAL
    assert same_ratios([[1.0, 1.0], [2.0, 2.0]], [[1.1, 1.1], [2.1, 2.1]], 0.0)[1] is not MachineVerdict.UNEQUAL


def test_what_a_machine_does_to_all_stacks_alike_shifts_no_ratio():
    own, other = noise(2, 3, 6)
    plain, slower = shifts(own, other), shifts(own - 0.3, other)
    np.testing.assert_allclose(slower.estimate, plain.estimate, atol=1e-12)
    np.testing.assert_allclose(slower.half_width, plain.half_width)


def test_nor_does_what_a_block_does_to_all():
    own, other = noise(2, 3, 6)
    weather = np.random.default_rng(4).normal(0, 0.5, 6)
    np.testing.assert_allclose(shifts(own + weather, other).half_width, shifts(own, other).half_width)


def test_two_stacks_are_compared_by_students_t():
    own, other = noise(2, 2, 4)
    one, two = own[0] - own[1], other[0] - other[1]
    family = shifts(own, other, 0.05)
    error = math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 2 * (1 / 4 + 1 / 4))
    assert family.estimate[0, 1] == pytest.approx(one.mean() - two.mean())
    assert family.half_width[0, 1] == pytest.approx(critical(2, 6, 0.05) * error, rel=0.02)


def test_the_stack_that_a_machine_slows_down_is_in_the_pair_that_is_named():
    own, other = noise(2, 4, 8)
    own[2] -= 0.15
    found, verdict = same_ratios(own, other, 0.05)
    assert verdict is MachineVerdict.UNEQUAL
    assert 2 in (found.first, found.second)
    assert not found.shift.low <= 1 <= found.shift.high


def test_ratios_are_equal_once_no_limit_reaches_beyond_what_matters():
    own, other = noise(2, 3, 40, sd=0.01)
    assert same_ratios(own, other, 0.05)[1] is MachineVerdict.EQUAL
    assert same_ratios(own[:, :3], other[:, :3], 0.01)[1] is MachineVerdict.UNKNOWN


def test_more_tests_have_wider_limits():
    own, other = noise(2, 3, 6)
    one, many = (same_ratios(own, other, 0.05, tests=tests)[0].shift for tests in (1, 5))
    assert many.low < one.low < one.high < many.high


def test_one_block_on_a_machine_decides_nothing():
    own, other = noise(2, 3, 6)
    found, verdict = same_ratios(own[:, :1] + [[0.0], [0.9], [0.0]], other, 0.05)
    assert (found.shift.low, verdict) == (None, MachineVerdict.UNKNOWN)
    assert same_ratios([[math.nan], [1.0]], [[1.0], [1.0]], 0.05) == (None, MachineVerdict.UNKNOWN)


def test_stacks_that_left_are_compared_over_the_blocks_they_have():
    own, other = noise(2, 3, 6)
    own[2, 2:] = other[2, 2:] = np.nan
    family = shifts(own, other)
    assert family.blocks[0, 2] == 2
    assert np.isfinite(family.half_width).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_equal_machines_are_seldom_called_unequal_under_any_noise(model):
    for rounds in (2, 3, 8):
        values = blocks(model, np.random.default_rng(rounds), 1500, 5, 2 * rounds)
        family = shifts(values[..., ::2], values[..., 1::2])
        assert (np.abs(family.estimate) > family.half_width).any(axis=(-2, -1)).mean() <= 0.04


def test_a_stack_that_is_ten_percent_slower_on_one_machine_is_found():
    few, many = said(Cell(model=PLAIN, stacks=5, races=200, sd=0.02), 0.10, (2, 5))
    assert few < many
    assert many >= 0.95


@pytest.mark.exhaustive
def test_two_machines_take_little_more_than_half_the_rounds_and_err_no_more():
    cell = Cell(model=PLAIN, stacks=5, races=250, truth=REALISTIC)
    one, two = (machines(cell, many) for many in (1, 2))
    assert two.rounds <= 0.60 * one.rounds
    narrow = Cell(model=PLAIN, stacks=5, races=250, truth=NARROW)
    assert max(machines(narrow, 2, slower).wrong for slower in (0.0, 0.1)) <= 0.05
