"""Pilot: variance components."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.method.components import pilot
from hypothesis import given
from hypothesis import strategies as st


def measured(rng, stacks=4, launches=3, slices=4, within=0.1, between=0.05, weather=0.2):
    """Stacks × launches × slices in the weather of their blocks and passes."""
    own = np.arange(stacks)[:, None, None] + between * rng.normal(size=(stacks, launches, 1))
    shared = weather * rng.normal(size=(1, launches, slices)) + weather * rng.normal(size=(1, launches, 1))
    return own + shared + within * rng.normal(size=(stacks, launches, slices))


def uneven(rng, values):
    """Return the same with some slices left out and one launch missing."""
    return [
        [
            [] if (i, b) == (1, 1) else [y if rng.random() > 0.15 else math.nan for y in launch]
            for b, launch in enumerate(stack)
        ]
        for i, stack in enumerate(values.tolist())
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("stacks", [1, 2, 5])
def test_both_variances_are_right_in_the_mean(stacks, gaps):
    rng = np.random.default_rng(stacks)
    weather = 0.0 if stacks == 1 else 0.2 if not gaps else 0.02
    found = []
    for _ in range(250):
        values = measured(rng, stacks, launches=6, within=0.1, between=0.2, weather=weather)
        found.append(pilot(uneven(rng, values) if gaps else values.tolist()))
    assert np.mean([one.within for one in found]) == pytest.approx(0.01, rel=0.15)
    assert np.mean([one.between for one in found]) == pytest.approx(0.04, rel=0.15)


def test_with_equal_numbers_it_is_the_variance_of_launch_means_less_a_quarter_of_that_within():
    values = measured(np.random.default_rng(1), stacks=1, launches=5, slices=4, between=0.4)
    found = pilot(values.tolist())
    assert found.within == pytest.approx(values[0].var(axis=1, ddof=1).mean())
    assert found.between == pytest.approx(values[0].mean(axis=1).var(ddof=1) - found.within / 4)
    assert found.launches == pytest.approx(4)


@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_what_a_block_or_a_pass_did_to_all_stacks_changes_nothing(seed, weather):
    rng = np.random.default_rng(seed)
    values = measured(rng)
    before = pilot(values.tolist())
    values[:, 1] += weather
    values[:, 2, 3] -= weather
    after = pilot(values.tolist())
    assert after.within == pytest.approx(before.within, rel=1e-6, abs=1e-9)
    assert after.between == pytest.approx(before.between, rel=1e-6, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_variances_are_never_negative_and_none_only_without_replicates(seed, stacks, launches, slices):
    found = pilot(measured(np.random.default_rng(seed), stacks, launches, slices).tolist())
    assert (found is None) == (launches < 2 or slices < 2)
    if found is not None:
        assert found.within >= 0
        assert found.between >= 0


@pytest.mark.parametrize(
    "values", [[], [[]], [[[1.0]]], [[[1.0, 2.0]]], [[[1.0], [2.0]]], [[[1.0, 2.0]], [[], [1.0, 2.0]]]]
)
def test_too_little_gives_nothing(values):
    assert pilot(values) is None
