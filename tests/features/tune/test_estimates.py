"""What launches say of each configuration and of each setting."""

import math

import numpy as np
import pytest

from stackrace.features.tune.estimates import _LEAST_SD, _PRIOR_SD, Grid, launched, main_effects, surface
from stackrace.features.tune.model import Knob
from stackrace.features.tune.tuning_result import poor_launch
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
    assert known.sd == pytest.approx(_PRIOR_SD)
    assert np.isnan(poor_launch(known)).all()


def test_what_was_not_launched_has_no_mean():
    assert np.isnan(launched(np.array([[1.0, 1.0], [NAN, NAN]])).mean[1])


def test_one_that_scatters_shows_and_does_not_make_all_others_scatter():
    values = np.random.default_rng(2).normal(0, 0.01, (10, 6))
    values[0] += 0.3 * np.array([1, -1, 1, -1, 1, -1])
    known = launched(values)
    assert known.sd[0] > 5 * known.sd[1:].max()
    assert known.sd[1:].max() < 0.05
    assert poor_launch(known)[0] < poor_launch(known)[1:].min()


def test_nothing_is_taken_to_repeat_exactly():
    assert (launched(np.zeros((3, 4))).sd >= _LEAST_SD).all()


def test_a_lucky_launch_is_drawn_towards_its_neighbours():
    values = np.zeros((8, 1))
    values[4] = 0.06
    expected = surface(launched(values), np.arange(8.0)[:, None])
    assert 0 < expected.mean[4] < 0.06
    assert expected.mean[3] > expected.mean[0] - 1e-9


def test_a_configuration_off_the_grid_is_like_no_other():
    expected = surface(launched(np.array([[1.0], [1.0], [0.0]])), np.array([[0.0], [1.0], [NAN]]))
    assert abs(expected.mean[2]) < abs(expected.mean[0])


def effects(rows, places=None):
    """Return the effects of the settings; without ``places`` there is one, whose steps the ``rows`` are."""
    values = np.array(rows, dtype=float)
    places = np.arange(float(len(values)))[:, None] if places is None else np.array(places, dtype=float)
    knobs = [
        Knob(hop=0, server="s", name=str(d), values=tuple("01234567"), numeric=True) for d in range(places.shape[1])
    ]
    grid = Grid(values=values, entered=np.isfinite(values), places=places, delta=math.log(1.05))
    return main_effects(grid, knobs)


def of_two(response, blocks=4, sd=0.005):
    """Return the effects of two settings, of four values and of three."""
    places = [(i, j) for i in range(4) for j in range(3)]
    dice = np.random.default_rng(1)
    return effects(np.array([[response(*place)] for place in places]) + dice.normal(0, sd, (12, blocks)), places)


MATTERS, IDLE, UNKNOWN = (True, True), (False, True), (True, False)


def told(effect):
    return effect.matters, effect.known


def test_a_setting_that_changes_nothing_does_not_matter_and_one_that_does_is_named_with_its_best():
    first, second = of_two(lambda i, j: 0.2 * i)
    assert (*map(told, (first, second)), first.best) == (MATTERS, IDLE, "3")


@pytest.mark.parametrize(
    ("response", "scatter"),
    [
        (lambda i, j: 0.2 * i, {"blocks": 2, "sd": 0.2}),
        # nobody was launched twice
        (lambda i, j: 0.2 * i, {"blocks": 1}),
    ],
)
def test_with_too_much_scatter_or_too_few_launches_it_is_not_known(response, scatter):
    _, second = of_two(response, **scatter)
    assert told(second) == UNKNOWN


def test_one_that_helps_here_and_hurts_there_is_not_called_idle():
    first, _ = of_two(lambda i, j: 0.3 * (i - 1.5) * (j - 1))
    assert first.matters


def test_two_pairs_that_scatter_do_not_prove_that_a_setting_is_idle():
    first, _ = effects([[0.0] * 4, [0.02] * 4, [0.0] * 4, [0.0] * 4], [(0, 0), (1, 0), (0, 1), (1, 1)])
    assert math.log1p(first.span) == pytest.approx(0.01)
    # one degree of freedom: t is 12.7, where many would give 1.96
    assert math.log1p(first.span_high) == pytest.approx(0.01 + 12.706 * 0.01, rel=0.03)
    assert told(first) == UNKNOWN


def test_limits_have_the_degrees_of_freedom_that_the_launches_have():
    rows = [[0.0, 0.01], [0.02, 0.0]]
    (effect,), known = effects(rows), launched(np.array(rows))
    half = critical(2, known.common_df, 0.05) * math.sqrt(float((known.sd**2 / 2).sum()))
    assert known.common_df < 5
    assert math.log1p(effect.span_high) - math.log1p(effect.span) == pytest.approx(half, rel=0.02)


@pytest.mark.parametrize(
    ("rows", "known", "best"),
    [
        # a large difference matters though another is little known
        ([[0.0] * 8, [0.5] * 8, [0.1] + [NAN] * 7], MATTERS, "1"),
        # the two that are known are alike, and the third, of a single launch, may be anything
        ([[0.0] * 8, [0.001] * 8, [-0.9] + [NAN] * 7], UNKNOWN, "1"),
        ([[0.0] * 8, [0.001] * 8, [-0.9, -0.9] + [NAN] * 6], MATTERS, "1"),
    ],
)
def test_a_value_that_stands_on_a_single_launch_proves_nothing(rows, known, best):
    (effect,) = effects(rows)
    assert (told(effect), effect.best) == (known, best)
