"""How long a race will need, before it begins."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stackrace.race.forecast import SLACK, ForecastInput, answer_s, fits, likely_stacks
from stackrace.race.pace import SliceLengths
from stackrace.stats.planning import blocks_expected

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
    assert not fits(prospect, stacks, budget_s / SLACK / 1.001)


def test_ten_stacks_of_a_fast_page_fit_into_the_default_three_minutes():
    assert likely_stacks(FAST, 180.0, 10) == 10


def test_never_more_than_there_are():
    assert likely_stacks(FAST, 3600.0, 1) == 1
    assert likely_stacks(FAST, 3600.0, 3) == 3


def test_a_difference_that_takes_more_blocks_takes_more_time():
    assert blocks_expected(5, difference=0.02) > blocks_expected(5, difference=0.05)
    assert answer_s(ForecastInput(difference=0.02), 5) > answer_s(ForecastInput(difference=0.05), 5)
