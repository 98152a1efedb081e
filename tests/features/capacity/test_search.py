"""The search for the highest rate that keeps a goal."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.capacity.search import _RESOLUTION, HIGH, LOW, Search, _requests_for


def ended(search: Search, truth: float) -> tuple[Search, list[float]]:
    """Search a server that keeps its goal up to ``truth``."""
    tried = []
    while (rate := search.next_rate) is not None:
        tried.append(rate)
        search = search.tried(rate, kept=rate <= truth)
    return search, tried


@given(st.floats(1e-3, 1e6), st.floats(0.31, 1.04))
def test_a_capacity_within_is_found_to_two_per_cent(reached: float, share: float) -> None:
    truth = share * reached
    found, _ = ended(Search(LOW * reached, HIGH * reached), truth)
    assert found.capacity is not None and found.above is not None
    assert found.capacity <= truth < found.above
    assert found.above / found.capacity <= 1 + _RESOLUTION + 1e-12


@given(st.floats(1e-3, 1e6), st.floats(0.01, 3.0))
def test_the_trials_stay_within_and_are_no_more_than_told(reached: float, share: float) -> None:
    search = Search(LOW * reached, HIGH * reached)
    _, tried = ended(search, share * reached)
    assert len(tried) <= search.most_trials <= 8
    assert len(tried) == len(set(tried))
    assert all(search.low <= rate <= search.high for rate in tried)


@given(st.floats(0.31, 1.04))
def test_what_is_left_shrinks_with_every_trial(share: float) -> None:
    search = Search(LOW, HIGH)
    while (rate := search.next_rate) is not None:
        after = search.tried(rate, kept=rate <= share)
        assert after.most_trials < search.most_trials
        search = after
    assert search.most_trials == 0


def test_where_every_rate_keeps_the_goal_the_highest_is_tried_last() -> None:
    found, tried = ended(Search(30.0, 105.0), math.inf)
    assert (found.capacity, found.above, tried[-1]) == (105.0, None, 105.0)


def test_where_none_keeps_it_the_lowest_is_tried_last() -> None:
    found, tried = ended(Search(30.0, 105.0), 0.0)
    assert (found.capacity, found.above, tried[-1]) == (None, 30.0, 30.0)


def test_fifty_requests_lie_beyond_the_highest_quantile() -> None:
    assert _requests_for([0.5]) == 100
    assert _requests_for([0.5, 0.99]) == 5_000
    assert _requests_for([0.999]) == 50_000
