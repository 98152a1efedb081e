"""What launches say when not all configurations met in every block."""

import numpy as np
import pytest

from stackrace.features.tune.stats.launched import LEAST_SD, PRIOR_SD, launched, surface
from stackrace.features.tune.stats.verdict import poor_launch

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
