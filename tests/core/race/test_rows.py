"""From slices to a row: percentiles with limits, and the median without the network."""

import ast
from dataclasses import replace

import pytest
from tests.factories import each_slice, make_finding, make_quantiles, make_race

from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.load import EngineShare
from stackrace.race.judge.ranking import latency_limits, standing

from .contests import Entry, contest, flat
from .raced import launch_of, merged, slice_of


def race_with(*launches, count):
    """A race of one stack whose launches have ``count`` answers each: 98 % after one delay, 2 % after another."""
    race = contest({"a": Entry(rates=flat(1000), cpu={"a": 0.4})}, blocks=len(launches))

    def timed(launch, delays):
        return replace(launch, slices=tuple(
            replace(one, result=replace(one.result, histogram=repr((delays, count)).encode()))
            for one in launch.slices
        ))  # fmt: skip

    return replace(race, launches=tuple(timed(*pair) for pair in zip(race.launches, launches, strict=True)))


def spread(histogram):
    (usual, slow), count = ast.literal_eval(histogram.decode())
    return [(usual, count * 98 // 100), (slow, count * 2 // 100)]


def limits(race):
    return standing(race, merge=merged, spread=spread).rows[0].latency_limits


def test_launches_with_many_answers_are_the_replicates():
    found = limits(race_with((0.01, 0.040), (0.01, 0.041), (0.01, 0.039), (0.01, 0.040), count=5000))
    assert found["p99"].low < 0.040 < found["p99"].high < 0.043
    assert found["p50"].value == pytest.approx(0.01)


def test_few_answers_are_merged_and_their_limits_wider():
    found = limits(race_with((0.01, 0.040), (0.01, 0.080), (0.01, 0.040), (0.01, 0.080), count=400))
    assert (found["p99"].low, found["p99"].high) == (0.040, 0.080)


def test_too_few_answers_tell_nothing():
    found = limits(race_with((0.01, 0.040), (0.01, 0.041), count=400))
    assert found["p50"] is not None
    assert (found["p99"], found["p999"]) == (None, None)


def test_one_launch_has_no_limits():
    found = limits(race_with((0.01, 0.040), count=5000))
    assert (found["p99"].value, found["p99"].low) == (pytest.approx(0.040), None)


def test_refused_slices_do_not_count():
    race = race_with((0.01, 0.040), (0.01, 0.900), (0.01, 0.041), count=5000)
    refused = Verdict((make_finding("steal", Effect.REDOES),))
    launch = race.launches[1]
    launch = replace(launch, slices=tuple(replace(one, verdict=refused) for one in launch.slices))
    race = replace(race, launches=(race.launches[0], launch, race.launches[2]))
    assert limits(race)["p99"].value < 0.05


def test_slices_without_histograms_have_no_limits():
    race = contest({"a": Entry(rates=flat(1000), cpu={"a": 0.4})}, blocks=2)
    bare = each_slice(race, lambda one: replace(one, result=replace(one.result, histogram=b"")))
    assert limits(bare) == {}
    assert latency_limits((), (), spread) == {}


def test_nobody_asked_for_no_limits():
    race = race_with((0.01, 0.040), count=5000)
    assert standing(race, merge=merged).rows[0].latency_limits == {}


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
