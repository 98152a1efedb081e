"""What the machine's speed does to configurations that are loaded one after another."""

import math
from itertools import product

import numpy as np
import pytest

from stackrace.features.tune.estimates import launched
from stackrace.features.tune.speed_effect import Slices, speed_effect

PLACES = np.array([(float(i), float(j)) for i in range(6) for j in range(5)])
TRUTH = 0.1 * PLACES[:, 0] - 0.05 * PLACES[:, 1]
SHAPE = len(PLACES), 3


def raced(seed, *, swing, noise, span_s=30.0, truth=TRUTH, busy=1.0):
    """Return two slices of each configuration and block, eight configurations at a time, in another order each."""
    dice = np.random.default_rng(seed)
    shares = np.broadcast_to(busy, len(truth))
    slices = []
    for block in range(SHAPE[1]):
        speed, now = dice.normal(0, swing), 100.0 * block
        for batch in np.array_split(dice.permutation(len(truth)), 4):
            now += 15.0
            for i in (i for _ in range(2) for i in dice.permutation(batch)):
                kept = math.exp(-0.7 / span_s)
                now, speed = now + 0.7, kept * speed + math.sqrt(1 - kept**2) * dice.normal(0, swing)
                slices.append((truth[i] + shares[i] * speed + dice.normal(0, noise), now, shares[i], i, block))
    return Slices.of(slices)


def means(slices):
    total, count = np.zeros((2, *SHAPE))
    np.add.at(total, (slices.rows, slices.blocks), slices.values)
    np.add.at(count, (slices.rows, slices.blocks), 1)
    return total / count


def calmed(slices, places=PLACES):
    return means(slices) - speed_effect(slices, places, SHAPE[1])[0]


def errors(slices, truth=TRUTH):
    """Return how wrong the mean of each configuration is, as measured and without the weather."""
    return [float(np.std(values.mean(axis=1) - truth)) for values in (means(slices), calmed(slices))]


@pytest.mark.parametrize(("swing", "span_s"), [(0.1, 30.0), (0.2, 30.0), (0.2, 4.0)])
def test_configurations_are_told_better_without_the_weather(swing, span_s):
    all_errors = [errors(raced(seed, swing=swing, noise=0.02, span_s=span_s)) for seed in range(5)]
    before, after = np.mean(all_errors, axis=0)
    assert after < 0.75 * before


@pytest.mark.exhaustive
def test_launches_scatter_as_they_are_wrong():
    scatter, wrong = [], []
    for seed in range(10):
        slices = raced(seed, swing=0.2, noise=0.03, span_s=10.0)
        wrong.append(errors(slices)[1] ** 2)
        scatter.append(np.mean(launched(calmed(slices)).sd ** 2) / 3)
    assert 0.7 < math.sqrt(np.mean(scatter) / np.mean(wrong)) < 1.4


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_machine_is_taken_for_one(seed):
    assert np.std(speed_effect(raced(seed, swing=0.0, noise=0.03), PLACES, SHAPE[1])[0]) < 0.012


def test_what_differs_between_configurations_is_no_weather():
    rough = TRUTH + np.random.default_rng(3).normal(0, 0.5, len(TRUTH))
    before, after = errors(raced(3, swing=0.0, noise=0.02, truth=rough), rough)
    assert after < 1.3 * before


def test_who_mostly_waits_feels_little_of_it():
    busy = np.where(np.arange(len(TRUTH)) % 2 == 0, 1.0, 0.05)
    slices = raced(7, swing=0.2, noise=0.01, busy=busy)
    assert np.abs(speed_effect(slices, PLACES, SHAPE[1])[0][busy < 1]).max() < 0.03
    before, after = errors(slices)
    assert after < 0.75 * before


def test_the_machines_usual_speed_stays():
    slices = raced(4, swing=0.2, noise=0.02)
    assert calmed(slices).mean() == pytest.approx(slices.values.mean(), abs=1e-9)


def test_what_was_not_measured_stays_so_and_few_slices_tell_nothing():
    slices = raced(5, swing=0.1, noise=0.02)
    there = ~((slices.rows == 3) & (slices.blocks == 1))
    there[np.flatnonzero((slices.rows == 5) & (slices.blocks == 2))[0]] = False
    felt = speed_effect(slices.only(there), PLACES, SHAPE[1])[0]
    assert [place for place in product(*map(range, SHAPE)) if felt[place] == 0] == [(3, 1)]
    few = slices.only((slices.rows < 3) & (slices.blocks == 0))
    assert not speed_effect(few, PLACES, SHAPE[1])[0].any()


def test_a_configuration_off_the_grid_is_like_no_other():
    places = PLACES.copy()
    places[7] = math.nan
    assert np.isfinite(calmed(raced(6, swing=0.1, noise=0.02), places)).all()
