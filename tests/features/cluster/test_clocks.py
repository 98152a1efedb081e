"""How far clocks are apart, from exchanges whose ways are as uneven as can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.cluster.members import EXCHANGES, Exchange, compare, estimate

WAY = st.floats(1e-5, 0.1)


@pytest.mark.exhaustive
@given(st.floats(-1e6, 1e6), st.lists(st.tuples(WAY, WAY), min_size=1, max_size=8))
def test_the_offset_is_off_by_half_of_the_shortest_round_trip_at_most(offset_s, ways):
    exchanges, now_s = [], 100.0
    for out_s, back_s in ways:
        exchanges.append(Exchange(now_s, now_s + out_s + offset_s, now_s + out_s + back_s))
        now_s += 1
    found = estimate(exchanges)
    assert abs(found.offset_s - offset_s) <= found.error_s + 1e-9
    assert found.round_trip_s == pytest.approx(min(map(sum, ways)), abs=1e-9)


@pytest.mark.exhaustive
def test_even_ways_leave_no_error_however_long_they_are():
    assert estimate([Exchange(1.0, 8.0, 3.0)]).offset_s == 6.0


def test_a_moment_of_this_clock_is_told_by_the_other():
    assert estimate([Exchange(1.0, 8.0, 3.0)]).to_remote(2.0) == 8.0


@pytest.fixture
def asked(monkeypatch):
    """Compare with a clock 7 s ahead, given its round trips; tells how often it was asked, and what came of it."""
    now_s = 100.0
    monkeypatch.setattr("stackrace.features.cluster.members.monotonic", lambda: now_s)

    def comparing(trips_s, shortest_s):
        left = list(trips_s)

        def ask():
            nonlocal now_s
            trip_s = left.pop(0)
            now_s += trip_s
            return now_s - trip_s / 2 + 7.0

        found = compare(ask, shortest_s)
        return len(trips_s) - len(left), found

    return comparing


def test_a_clock_is_asked_again_until_it_answers_about_as_fast_as_ever(asked):
    times, found = asked([0.9, 0.023, 0.0205, *[0.02] * 9], 0.020)
    assert times == 3
    assert found.round_trip_s == pytest.approx(0.0205)
    assert found.offset_s == pytest.approx(7.0)


def test_a_clock_that_answers_slowly_is_asked_so_often_and_no_more(asked):
    times, found = asked([0.03, 0.025, *[0.04] * 20], 0.020)
    assert times == EXCHANGES
    assert found.round_trip_s == pytest.approx(0.025)
