"""The median latency without the network between engines and stack, in a standing."""

from dataclasses import replace

import pytest
from tests.factories import make_quantiles, make_race
from tests.unit.race.raced import launch_of, slice_of

from stackrace.measure.load import EngineShare
from stackrace.race.standing import standing


def latency_without_network(*ways, opened=20):
    """The median of 10 ms less what is the network's, by engines with their answers and round trips in ms."""
    shares = tuple(
        EngineShare(name=f"{way_ms}", connections=1, answered=answered, round_trip_s=way_ms / 1000)
        for answered, way_ms in ways
    )
    taken = slice_of(1000)
    taken = replace(taken, result=replace(taken.result, engines=shares, connections_opened=opened))
    race = replace(make_race(stacks=["a"], blocks=0), launches=(launch_of("a", 0, taken),))
    [row] = standing(race, merge=lambda _: make_quantiles(0.010)).rows
    return row.p50_without_network_s


def test_the_median_is_also_told_without_the_round_trip_of_most_answers():
    assert latency_without_network((900, 2), (100, 8)) == pytest.approx(0.008)
    assert latency_without_network((400, 2), (600, 8)) == pytest.approx(0.002)


def test_without_the_network_nothing_is_faster_than_at_once():
    assert latency_without_network((1, 30)) == 0


def test_requests_that_open_a_connection_take_two_round_trips():
    assert latency_without_network((1, 2), opened=1_000_000) == pytest.approx(0.006)


def test_no_network_is_taken_off_where_there_is_none():
    assert latency_without_network() is None
