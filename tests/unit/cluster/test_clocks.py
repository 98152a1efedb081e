"""How far clocks are apart, from exchanges whose ways are as uneven as can be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.cluster.clocks import Exchange, compared, estimate

WAY = st.floats(1e-5, 0.1)


@given(st.floats(-1e6, 1e6), st.lists(st.tuples(WAY, WAY), min_size=1, max_size=8))
def test_the_offset_is_off_by_half_of_the_shortest_round_trip_at_most(offset_s, ways):
    exchanges, now_s = [], 100.0
    for there_s, back_s in ways:
        exchanges.append(Exchange(now_s, now_s + there_s + offset_s, now_s + there_s + back_s))
        now_s += 1
    found = estimate(exchanges)
    assert abs(found.offset_s - offset_s) <= found.error_s + 1e-9
    assert found.round_trip_s == pytest.approx(min(map(sum, ways)), abs=1e-9)


def test_even_ways_leave_no_error_however_long_they_are():
    assert estimate([Exchange(1.0, 8.0, 3.0)]).offset_s == 6.0


def test_the_two_clocks_translate_into_each_other():
    found = estimate([Exchange(1.0, 8.0, 3.0)])
    assert found.ours(found.there(5.0)) == 5.0
    assert found.there(2.0) == 8.0


def test_a_clock_is_asked_as_often_as_said():
    answers = iter(range(5))
    compared(lambda: next(answers), exchanges=5)
    assert next(answers, None) is None
