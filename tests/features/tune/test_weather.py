"""What the machine's speed does to configurations that are loaded one after another."""

import math

import numpy as np
import pytest

from stackrace.features.tune.stats.estimates import launched
from stackrace.features.tune.stats.grid import Slices, weather

PLACES = np.array([(float(i), float(j)) for i in range(6) for j in range(5)])
TRUTH = 0.1 * PLACES[:, 0] - 0.05 * PLACES[:, 1]


def raced(dice, *, swing, noise, blocks=3, span_s=30.0, truth=TRUTH, busy=1.0):
    """Return two slices of each configuration and block, eight configurations at a time, in another order each."""
    k = len(truth)
    shares = np.broadcast_to(busy, k)
    values, moments_s = np.empty((2, k, blocks, 2))
    for block in range(blocks):
        speed, now = dice.normal(0, swing), 100.0 * block
        for batch in np.array_split(dice.permutation(k), 4):
            now += 15.0
            for turn in range(2):
                for i in dice.permutation(batch):
                    kept = math.exp(-0.7 / span_s)
                    now, speed = now + 0.7, kept * speed + math.sqrt(1 - kept**2) * dice.normal(0, swing)
                    values[i, block, turn] = truth[i] + shares[i] * speed + dice.normal(0, noise)
                    moments_s[i, block, turn] = now
    return Slices(values=values, moments_s=moments_s, busy=np.broadcast_to(shares[:, None], (k, blocks)))


def calmed(slices, places=PLACES):
    return np.nanmean(slices.values, axis=2) - weather(slices, places)[0]


def errors(slices, truth=TRUTH):
    """Return how wrong the mean of each configuration is, as measured and without the weather."""
    return [float(np.std(values.mean(axis=1) - truth)) for values in (slices.values.mean(axis=2), calmed(slices))]


@pytest.mark.parametrize(("swing", "span_s"), [(0.1, 30.0), (0.2, 30.0), (0.2, 4.0)])
def test_configurations_are_told_better_without_the_weather(swing, span_s):
    dice = np.random.default_rng(1)
    before, after = np.mean([errors(raced(dice, swing=swing, noise=0.02, span_s=span_s)) for _ in range(5)], axis=0)
    assert after < 0.75 * before


def test_launches_scatter_as_they_are_wrong():
    dice = np.random.default_rng(8)
    scatter, wrong = [], []
    for _ in range(10):
        slices = raced(dice, swing=0.2, noise=0.03, span_s=10.0)
        wrong.append(errors(slices)[1] ** 2)
        scatter.append(launched(calmed(slices)).common_sd ** 2 / 3)
    assert 0.7 < math.sqrt(np.mean(scatter) / np.mean(wrong)) < 1.4


def test_a_steady_machine_is_taken_for_one():
    dice = np.random.default_rng(2)
    for _ in range(5):
        slices = raced(dice, swing=0.0, noise=0.03)
        assert np.std(weather(slices, PLACES)[0]) < 0.012


def test_what_differs_between_configurations_is_no_weather():
    dice = np.random.default_rng(3)
    rough = TRUTH + dice.normal(0, 0.5, len(TRUTH))
    before, after = errors(raced(dice, swing=0.0, noise=0.02, truth=rough), rough)
    assert after < 1.3 * before


def test_who_mostly_waits_feels_little_of_it():
    busy = np.where(np.arange(len(TRUTH)) % 2 == 0, 1.0, 0.05)
    slices = raced(np.random.default_rng(7), swing=0.2, noise=0.01, busy=busy)
    felt = weather(slices, PLACES)[0]
    assert np.abs(felt[busy < 1]).max() < 0.03
    before, after = errors(slices)
    assert after < 0.75 * before


def test_the_machines_usual_speed_stays():
    slices = raced(np.random.default_rng(4), swing=0.2, noise=0.02)
    assert calmed(slices).mean() == pytest.approx(slices.values.mean(), abs=1e-9)


def test_what_was_not_measured_stays_so_and_few_slices_tell_nothing():
    slices = raced(np.random.default_rng(5), swing=0.1, noise=0.02)
    slices.values[3, 1] = math.nan
    slices.moments_s[3, 1] = math.nan
    slices.values[5, 2, 1] = math.nan
    felt = weather(slices, PLACES)[0]
    assert felt[3, 1] == 0
    assert np.isfinite(felt).all()
    few = Slices(values=slices.values[:3, :1], moments_s=slices.moments_s[:3, :1], busy=slices.busy[:3, :1])
    assert not weather(few, PLACES[:3])[0].any()


def test_a_configuration_off_the_grid_is_like_no_other():
    slices = raced(np.random.default_rng(6), swing=0.1, noise=0.02)
    places = PLACES.copy()
    places[7] = math.nan
    assert np.isfinite(calmed(slices, places)).all()
