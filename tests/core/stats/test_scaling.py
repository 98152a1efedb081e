"""Scaling: where a curve stops growing, and the law behind it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackrace.stats.scaling import _LEAST_LEVELS, _MOST_RESIDUAL, fit, knee
from stackrace.stats.values import ScalingLaw, Unfit, UnfitKind

LEVELS = (1, 2, 5, 10, 20, 50, 100, 250)


def law(levels, single=500.0, contention=0.05, coherency=0.0005):
    n = np.asarray(levels, dtype=float)
    return np.log(single * n / (1 + contention * (n - 1) + coherency * n * (n - 1)))


def measured(rng, logs, blocks=7, sd=0.03):
    """Levels of one launch per block, all in the weather of their block."""
    return logs[:, None] + rng.normal(0, sd, (len(logs), blocks)) + rng.normal(0, 0.1, blocks)


@settings(max_examples=30)
@given(st.floats(1, 1e5), st.floats(0, 0.9), st.floats(1e-6, 0.1))
def test_a_curve_without_noise_is_found_again(single, contention, coherency):
    found = fit(LEVELS, law(LEVELS, single, contention, coherency)[:, None])
    assert isinstance(found, ScalingLaw)
    assert found.single_per_s.value == pytest.approx(single, rel=1e-3)
    assert found.contention.value == pytest.approx(contention, rel=1e-3, abs=1e-6)
    assert found.coherency.value == pytest.approx(coherency, rel=1e-3)
    assert found.peak.value == pytest.approx(max(math.sqrt((1 - contention) / coherency), 1), rel=1e-3)
    assert found.at(50) == pytest.approx(float(np.exp(law([50], single, contention, coherency))[0]), rel=1e-3)


def test_limits_hold_the_truth_in_nine_of_ten_races():
    rng = np.random.default_rng(1)
    truth = {"single_per_s": 500.0, "contention": 0.05, "coherency": 0.0005, "peak": math.sqrt(0.95 / 0.0005)}
    inside = []
    for _ in range(100):
        found = fit(LEVELS, measured(rng, law(LEVELS)), draws=500)
        limits = [(getattr(found, name), value) for name, value in truth.items()]
        inside.append([one.low <= value <= one.high for one, value in limits])
    assert np.mean(inside) >= 0.88


def test_one_block_gives_a_curve_without_limits():
    found = fit(LEVELS, law(LEVELS)[:, None])
    assert (found.contention.low, found.contention.high, found.peak.low) == (None, None, None)


def test_a_curve_that_never_falls_has_no_peak():
    found = fit(LEVELS, law(LEVELS, coherency=0.0)[:, None])
    assert found.coherency.value == pytest.approx(0, abs=1e-9)
    assert found.peak is None or found.peak.value > 1e4


def test_the_same_values_give_the_same_limits():
    values = measured(np.random.default_rng(2), law(LEVELS))
    assert fit(LEVELS, values) == fit(LEVELS, values)


def test_gaps_are_left_out():
    values = measured(np.random.default_rng(3), law(LEVELS), sd=0.01)
    values[2, 3] = values[5, 0] = values[5, 6] = np.nan
    assert fit(LEVELS, values).contention.value == pytest.approx(0.05, rel=0.3)


def test_four_levels_are_too_few_for_a_law_but_not_for_a_knee():
    values = measured(np.random.default_rng(4), law(LEVELS[:4]))
    found = fit(LEVELS[:4], values)
    assert found == Unfit(kind=UnfitKind.FEW_LEVELS, levels=4, levels_needed=_LEAST_LEVELS)
    assert knee(LEVELS[:4], values) == 3


def test_levels_without_a_value_do_not_count():
    values = measured(np.random.default_rng(5), law(LEVELS))
    values[:3] = np.nan
    assert isinstance(fit(LEVELS, values), Unfit)


def test_a_collapse_is_no_scaling_law():
    logs = law(LEVELS)
    logs[4:] -= 2
    found = fit(LEVELS, measured(np.random.default_rng(6), logs))
    assert isinstance(found, Unfit)
    assert found.kind is UnfitKind.OFF_THE_CURVE
    assert found.residual > _MOST_RESIDUAL


def test_the_knee_is_the_smallest_level_that_is_as_good_as_the_best():
    logs = np.log(np.minimum(np.asarray(LEVELS) * 100.0, 1000.0))
    values = measured(np.random.default_rng(7), logs, sd=0.01)
    assert LEVELS[knee(LEVELS, values)] == 10
    order = np.random.default_rng(8).permutation(len(LEVELS))
    shuffled = [LEVELS[i] for i in order]
    assert shuffled[knee(shuffled, values[order])] == 10


def test_levels_on_a_plateau_are_hardly_ever_told_apart():
    rng = np.random.default_rng(9)
    flat = np.zeros(6)
    wrong = sum(knee(LEVELS[:6], measured(rng, flat)) != 0 for _ in range(300))
    assert wrong / 300 <= 0.065


@pytest.mark.parametrize("shape", [(1, 5), (6, 1)])
def test_no_other_level_and_no_second_block_mean_no_knee(shape):
    assert knee(LEVELS[: shape[0]], np.zeros(shape)) is None


@pytest.mark.parametrize(("levels", "shape"), [((1, 2), (3, 4)), ((0, 1), (2, 4)), ((1, 2), (2,))])
def test_levels_and_values_that_do_not_fit_together_are_refused(levels, shape):
    with pytest.raises(ValueError, match="one row of blocks for each level"):
        fit(levels, np.zeros(shape))
