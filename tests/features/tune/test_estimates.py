"""What launches say of each configuration and of each setting."""

import math

import numpy as np
import pytest

from stackrace.features.tune.stats.estimates import LEAST_SD, PRIOR_SD, launched, main_effects, surface
from stackrace.features.tune.stats.grid import grid_of
from stackrace.features.tune.stats.verdict import poor_launch
from stackrace.stats.limits import critical

NAN = np.nan


def test_a_blocks_own_weather_is_taken_out():
    truth, weather = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.3, -0.2])
    values = truth[:, None] + weather[None, :]
    values[2, 1] = NAN
    known = launched(values)
    assert np.diff(known.mean) == pytest.approx([1.0, 1.0])
    assert known.mean.mean() == pytest.approx(2.0 + weather.mean())


def test_before_anything_was_launched_twice_the_usual_scatter_is_supposed():
    known = launched(np.array([[1.0], [2.0]]))
    assert known.common_sd == pytest.approx(PRIOR_SD)
    assert np.isnan(poor_launch(known)).all()


def test_what_was_not_launched_has_no_mean():
    assert np.isnan(launched(np.array([[1.0, 1.0], [NAN, NAN]])).mean[1])


def test_one_that_scatters_shows_and_does_not_make_all_others_scatter():
    dice = np.random.default_rng(2)
    values = dice.normal(0, 0.01, (10, 6))
    values[0] += np.array([0.3, -0.3, 0.3, -0.3, 0.3, -0.3])
    known = launched(values)
    assert known.sd[0] > 5 * known.sd[1:].max()
    assert known.common_sd < 0.05
    assert poor_launch(known)[0] < poor_launch(known)[1:].min()


def test_nothing_is_taken_to_repeat_exactly():
    assert (launched(np.zeros((3, 4))).sd >= LEAST_SD).all()


def test_a_lucky_launch_is_drawn_towards_its_neighbours():
    places = np.array([[float(i)] for i in range(8)])
    values = np.zeros((8, 1))
    values[4] = 0.06
    expected = surface(launched(values), places)
    assert 0 < expected.mean[4] < 0.06
    assert expected.mean[3] > expected.mean[0] - 1e-9


def test_a_configuration_off_the_grid_is_like_no_other():
    places = np.array([[0.0], [1.0], [NAN]])
    expected = surface(launched(np.array([[1.0], [1.0], [0.0]])), places)
    assert abs(expected.mean[2]) < abs(expected.mean[0])


PLACES = [(float(i), float(j)) for i in range(4) for j in range(3)]
DELTA = math.log(1.05)


def effects(response, blocks=4, sd=0.005):
    dice = np.random.default_rng(1)
    values = np.array([response(i, j) for i, j in PLACES])[:, None] + dice.normal(0, sd, (12, blocks))
    return main_effects(grid_of(values=values, entered=np.isfinite(values), places=PLACES, delta=DELTA))


def test_a_setting_that_changes_nothing_does_not_matter_and_one_that_does_is_named_with_its_best():
    first, second = effects(lambda i, j: 0.2 * i)
    assert first.matters(DELTA) is True
    assert first.best == 3.0
    assert second.matters(DELTA) is False


def test_with_too_much_scatter_it_is_not_known():
    _, second = effects(lambda i, j: 0.2 * i, blocks=2, sd=0.2)
    assert second.matters(DELTA) is None


def test_one_that_helps_here_and_hurts_there_is_not_called_idle():
    first, _ = effects(lambda i, j: 0.3 * (i - 1.5) * (j - 1))
    assert first.matters(DELTA) is not False


def test_two_pairs_that_scatter_do_not_prove_that_a_setting_is_idle():
    places = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    values = np.array([[0.0] * 4, [0.02] * 4, [0.0] * 4, [0.0] * 4])
    first, _ = main_effects(grid_of(values=values, entered=np.isfinite(values), places=places, delta=DELTA))
    assert first.span == pytest.approx(0.01)
    # one degree of freedom: t is 12.7, where many would give 1.96
    assert first.high == pytest.approx(0.01 + 12.706 * 0.01, rel=0.03)
    assert first.matters(DELTA) is None


def test_limits_have_the_degrees_of_freedom_that_the_launches_have():
    values = np.array([[0.0, 0.01], [0.02, 0.0]])
    (effect,) = main_effects(
        grid_of(values=values, entered=np.isfinite(values), places=[(0.0,), (1.0,)], delta=DELTA)
    )
    known = launched(values)
    error = math.sqrt(float((known.sd**2 / 2).sum()))
    assert known.common_df < 5
    assert effect.high - effect.span == pytest.approx(critical(2, known.common_df, 0.05) * error, rel=0.02)


def test_a_large_difference_matters_though_another_is_little_known():
    values = np.array([[0.0] * 8, [0.5] * 8, [0.1] + [np.nan] * 7])
    (effect,) = main_effects(
        grid_of(values=values, entered=np.isfinite(values), places=[(0.0,), (1.0,), (2.0,)], delta=DELTA)
    )
    assert effect.matters(DELTA) is True
    assert effect.best == 1.0


def test_nothing_matters_while_every_configuration_was_launched_once():
    for effect in effects(lambda i, j: 0.2 * i, blocks=1):
        assert effect.matters(DELTA) is None


def test_a_value_that_stands_on_a_single_launch_proves_nothing():
    places = [(0.0,), (1.0,), (2.0,)]
    values = np.array([[0.0] * 8, [0.001] * 8, [-0.9] + [np.nan] * 7])
    (effect,) = main_effects(grid_of(values=values, entered=np.isfinite(values), places=places, delta=DELTA))
    # the two that are known are alike, and the third may be anything
    assert effect.matters(DELTA) is None
    values[2, 1] = -0.9
    (effect,) = main_effects(grid_of(values=values, entered=np.isfinite(values), places=places, delta=DELTA))
    assert effect.matters(DELTA) is True
