"""How long a race will need, before it begins."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.race.pacing.forecast import _LAUNCH_S, _SLACK, ForecastInput, answer_s, fits, likely_stacks
from stackrace.race.pacing.pace import SliceLengths
from stackrace.stats.judge import blocks_expected

lengths = st.builds(
    SliceLengths,
    slice_s=st.floats(0.5, 30),
    side_s=st.floats(0.3, 18),
    response_s=st.floats(0, 20),
    queue_s=st.floats(0, 20),
)
prospects = st.builds(
    ForecastInput,
    lengths=lengths,
    headline=st.integers(1, 4),
    sides=st.integers(0, 8),
    difference=st.sampled_from([0.001, 0.02, 0.05, 0.2]),
    twin=st.booleans(),
    launch_s=st.floats(_LAUNCH_S, 60),
    loading_s=st.floats(0, 30),
)
FAST = ForecastInput(sides=2)


@given(prospects, st.integers(1, 20))
def test_more_stacks_never_take_less_time(prospect, stacks):
    assert 0 < answer_s(prospect, stacks) <= answer_s(prospect, stacks + 1)


@given(prospects, st.integers(2, 10), lengths)
def test_longer_slices_never_take_less_time(prospect, stacks, other):
    longer = SliceLengths(
        slice_s=prospect.lengths.slice_s + other.slice_s,
        side_s=prospect.lengths.side_s + other.side_s,
        response_s=prospect.lengths.response_s,
        queue_s=prospect.lengths.queue_s,
    )
    assert answer_s(replace(prospect, lengths=longer), stacks) > answer_s(prospect, stacks)


@given(prospects, st.floats(1, 7200), st.floats(1, 7200))
def test_more_budget_never_means_fewer_stacks(prospect, one, other):
    fewer, more = (likely_stacks(prospect, budget_s, 10) for budget_s in sorted((one, other)))
    assert 2 <= fewer <= more <= 10


@given(prospects, st.integers(2, 10))
def test_the_time_that_is_forecast_is_enough_for_as_many(prospect, stacks):
    budget_s = answer_s(prospect, stacks)
    assert fits(prospect, stacks, budget_s)
    assert likely_stacks(prospect, budget_s, 10) >= stacks
    assert not fits(prospect, stacks, budget_s / _SLACK / 1.001)


def test_ten_stacks_of_a_fast_page_fit_into_the_default_three_minutes():
    assert likely_stacks(FAST, 180.0, 10) == 10


def test_an_app_that_is_slow_to_load_has_fewer_stacks():
    slow = [replace(FAST, launch_s=seconds, loading_s=seconds) for seconds in (0.4, 2.0, 6.0, 18.0)]
    numbers = [likely_stacks(race, 180.0, 7) for race in slow]
    assert numbers == sorted(numbers, reverse=True)
    assert (numbers[0], numbers[-1]) == (7, 2)


@given(prospects, st.integers(2, 10), st.floats(0.1, 60))
def test_each_launch_that_takes_longer_is_in_the_forecast(prospect, stacks, seconds):
    slower = replace(prospect, launch_s=prospect.launch_s + seconds)
    # two blocks of two stacks at the least
    assert answer_s(slower, stacks) >= answer_s(prospect, stacks) + 4 * seconds - 1e-6
    loaded_once = replace(prospect, loading_s=prospect.loading_s + seconds)
    assert answer_s(loaded_once, stacks) == pytest.approx(answer_s(prospect, stacks) + seconds)


def test_never_more_than_there_are():
    assert likely_stacks(FAST, 3600.0, 1) == 1
    assert likely_stacks(FAST, 3600.0, 3) == 3


def test_a_difference_that_takes_more_blocks_takes_more_time():
    assert blocks_expected(5, difference=0.02) > blocks_expected(5, difference=0.05)
    assert answer_s(ForecastInput(difference=0.02), 5) > answer_s(ForecastInput(difference=0.05), 5)
