"""The adjustment for a covariate: what it takes out, what it must not touch, and when it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.method.covariate import Rule, adjusted
from benchmarks.method.theft import RULES, measured
from benchmarks.method.weather import KINDS, simulated
from hypothesis import given
from hypothesis import strategies as st

ALWAYS = Rule(alike=0.0)
BY_NAME = {kind.name: kind for kind in KINDS}
RULE = st.sampled_from([Rule(), Rule(between=True)])


def drawn(seed, *, stacks=4, blocks=4, slices=2, slope=1.0, noise=0.03):
    """One race: launches and passes of their own speeds, theft, and each stack's slope or one for all."""
    dice = np.random.default_rng(seed)
    block = np.repeat(np.arange(blocks), slices)
    theft = dice.exponential(0.1, (stacks, len(block)))
    launch = dice.normal(0, 0.1, (stacks, blocks))[:, block]
    values = launch + dice.normal(0, 0.1, len(block)) + np.reshape(slope, (-1, 1)) * theft
    return values + noise * dice.normal(size=theft.shape), theft, block.tolist()


SEED = st.integers(0, 10_000)


@given(seed=SEED, slope=st.floats(-3, 3), stacks=st.integers(3, 6), slices=st.integers(2, 4))
def test_what_theft_alone_did_to_slices_is_taken_out_exactly(seed, slope, stacks, slices):
    values, theft, blocks = drawn(seed, stacks=stacks, slices=slices, slope=slope, noise=0.0)
    found = adjusted(values, theft, blocks, ALWAYS)
    assert found.slope == pytest.approx(slope, abs=1e-9)
    np.testing.assert_allclose(found.values, values - slope * (theft - theft.mean()), atol=1e-6)


@given(seed=SEED, factor=st.floats(0.1, 10), shift=st.floats(-5, 5), rule=RULE)
def test_the_unit_and_the_zero_of_the_covariate_do_not_matter(seed, factor, shift, rule):
    values, theft, blocks = drawn(seed)
    one, other = (adjusted(values, each, blocks, rule) for each in (theft, shift + factor * theft))
    np.testing.assert_allclose(one.values, other.values, atol=1e-8)


@given(seed=SEED)
def test_slopes_within_launches_do_not_see_what_launches_and_passes_have_of_their_own(seed):
    values, theft, blocks = drawn(seed)
    dice = np.random.default_rng(seed)
    more = dice.normal(0, 5, (4, 4))[:, blocks] + dice.normal(0, 5, len(blocks))
    one, other = (adjusted(each, theft, blocks) for each in (values, values + more))
    np.testing.assert_allclose(one.values + more, other.values, atol=1e-6)


@given(seed=SEED, block=st.integers(0, 3), rule=st.sampled_from([ALWAYS, replace(ALWAYS, between=True)]))
def test_no_slice_has_a_part_in_its_own_adjustment(seed, block, rule):
    values, theft, blocks = drawn(seed)
    at = np.array(blocks) == block
    other = values + np.where(at, np.random.default_rng(seed).normal(size=values.shape), 0.0)
    taken = [each - adjusted(each, theft, blocks, rule).values for each in (values, other)]
    np.testing.assert_allclose(taken[0][:, at], taken[1][:, at], atol=1e-9)


@given(seed=SEED, rule=RULE)
def test_the_order_of_stacks_does_not_matter(seed, rule):
    values, theft, blocks = drawn(seed)
    order = np.random.default_rng(seed).permutation(4)
    one, other = adjusted(values, theft, blocks, rule), adjusted(values[order], theft[order], blocks, rule)
    np.testing.assert_allclose(one.values[order], other.values, atol=1e-7)


@given(seed=SEED, stack=st.integers(0, 3), at=st.integers(0, 11))
def test_a_slice_that_is_missing_stays_missing_and_the_others_are_adjusted(seed, stack, at):
    values, theft, blocks = drawn(seed, slices=3, noise=0.0)
    values[stack, at] = np.nan
    found = adjusted(values, theft, blocks, ALWAYS)
    centre = theft[np.isfinite(values)].mean()
    np.testing.assert_allclose(found.values, values - (theft - centre), atol=1e-6)


@given(seed=SEED, rule=RULE)
@pytest.mark.exhaustive
def test_many_races_at_once_are_each_by_itself(seed, rule):
    races = [drawn(seed + each) for each in range(3)]
    blocks = races[0][2]
    together = adjusted(np.array([one[0] for one in races]), np.array([one[1] for one in races]), blocks, rule)
    for place, (values, theft, _) in enumerate(races):
        alone = adjusted(values, theft, blocks, rule)
        np.testing.assert_allclose(together.values[place], alone.values, atol=1e-9)
        assert together.used[place] == alone.used


def test_one_slice_a_launch_tells_no_slope_within_launches_but_one_between_them():
    values, theft, blocks = drawn(1, slices=1, blocks=6)
    within = adjusted(values, theft, blocks)
    assert not within.used
    assert np.isnan(within.alike)
    np.testing.assert_array_equal(within.values, values)
    assert adjusted(values, theft, blocks, Rule(between=True)).used


def test_stacks_that_feel_it_differently_leave_the_race_as_it_is():
    values, theft, blocks = drawn(2, slices=4, slope=[1.0, 1.0, 1.0, -1.0])
    found = adjusted(values, theft, blocks)
    assert not found.used
    assert found.alike < 0.01
    np.testing.assert_array_equal(found.values, values)


def test_a_stack_that_makes_its_own_theft_leaves_the_race_as_it_is_where_that_is_asked():
    values, theft, blocks = drawn(3)
    theft[0] += 0.5
    assert adjusted(values, theft, blocks).used
    assert not adjusted(values, theft, blocks, Rule(even=0.05)).used


def test_nothing_is_adjusted_for_a_covariate_that_never_changes_or_is_not_known():
    values, theft, blocks = drawn(4)
    np.testing.assert_allclose(adjusted(values, np.full_like(theft, 0.1), blocks, ALWAYS).values, values)
    theft[0, 0] = np.nan
    assert not adjusted(values, theft, blocks, ALWAYS).used


def test_shapes_that_do_not_fit_are_refused():
    values, theft, blocks = drawn(5)
    with pytest.raises(ValueError, match="one shape"):
        adjusted(values, theft[:2], blocks)
    with pytest.raises(ValueError, match="one shape"):
        adjusted(values, theft, blocks[:-1])
    torn = np.array([values, values])
    torn[0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="same slices"):
        adjusted(torn, np.array([theft, theft]), blocks)


@pytest.mark.parametrize("name", BY_NAME)
def test_every_weather_is_drawn_for_identical_stacks_and_always_the_same(name):
    one, again = (next(simulated(BY_NAME[name], 4, [1, 2, 2], 200, seed=1)) for _ in range(2))
    for each, other in zip(one, again, strict=True):
        np.testing.assert_array_equal(each, other)
    values, seen, truth = one
    assert values.shape == seen.shape == (200, 4, 5)
    np.testing.assert_allclose(
        values.mean(axis=(0, 2)) - truth, (values.mean(axis=(0, 2)) - truth).mean(), atol=0.02
    )


def test_heavy_theft_is_mostly_taken_out_and_a_stack_that_hardly_feels_it_is_then_wronged():
    heavy = measured(BY_NAME["heavy bursts"], RULES["within launches"], "two", 4, 60, stacks=6)
    assert heavy.width < 0.5
    assert heavy.variance < 0.5
    special = measured(BY_NAME["one feels 0.3, heavy"], RULES["within launches"], "two", 3, 60, stacks=6)
    assert special.wrong > special.plain
