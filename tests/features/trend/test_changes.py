"""Change points of a series of races."""

import numpy as np
import pytest

from stackrace.features.trend.changes import LEAST, MOST, changes, outlying


def noise(count, seed):
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.exhaustive
def test_a_series_in_which_nothing_changed_seldom_shows_a_change():
    found = sum(bool(changes(noise(20, seed))) for seed in range(100))
    assert found <= 5  # 1 is expected


def test_heavy_tails_make_no_changes():
    found = sum(bool(changes(np.random.default_rng(seed).standard_t(2, size=20))) for seed in range(60))
    assert found <= 3


def test_a_clear_shift_is_found_at_its_place_with_its_size():
    series = noise(24, 1)
    series[14:] += 6
    (change,) = changes(series)
    assert change.at == 14
    assert change.shift.low < 6 < change.shift.high
    assert change.p <= 0.01


def test_a_shift_that_was_undone_is_two_changes():
    series = noise(30, 2)
    series[10:20] += 5
    up, down = changes(series)
    assert (up.at, down.at) == (10, 20)
    assert up.shift.low > 0 > down.shift.high


def test_one_wild_value_is_no_change():
    series = noise(24, 3)
    series[12] += 50
    assert not changes(series)


@pytest.mark.parametrize("count", [0, 1, 2 * LEAST - 1, 9])
def test_too_few_values_prove_nothing(count):
    assert not changes(np.arange(count) >= count // 2)


def test_equal_values_have_no_change():
    assert not changes(np.ones(30))


@pytest.mark.exhaustive
def test_only_the_last_values_count_and_places_stay_those_of_the_whole_series():
    series = noise(MOST + 40, 4)
    series[:20] += 50
    series[MOST:] += 6
    (change,) = changes(series)
    assert change.at == MOST


def test_the_next_value_of_a_steady_series_is_foretold():
    assert sum(outlying(noise(8, seed)) is not None for seed in range(400)) <= 12  # 4 are expected


def test_a_value_far_off_says_by_how_much():
    off = outlying([*noise(8, 1), 20.0])
    assert 10 < off.low < off.value < off.high < 30


def test_three_values_foretell_nothing():
    assert outlying([1.0, 2.0, 3.0, 100.0]) is None
