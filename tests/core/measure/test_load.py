"""What a recorded window says of the rate; lists of cores."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import make_counts, make_quantiles, make_result

from stackrace.base.errors import InputError
from stackrace.measure.load import Load, SeriesBin, answered_per_s
from stackrace.measure.resources import format_cores, parse_cores


def window(arrivals, latencies, *, connections, duration_s, errors=0):
    load = Load(concurrency=connections)
    counts = [sum(i <= at * 10 < i + 1 for at in arrivals) for i in range(round(duration_s * 10))]
    series = [
        SeriesBin(start_s=i / 10, ok=ok, errors=0, in_flight=connections, p50_s=0.0, p99_s=0.0)
        for i, ok in enumerate(counts)
    ]
    ordered = sorted(latencies)
    latency = replace(
        make_quantiles(),
        count=len(ordered),
        mean=sum(ordered) / max(len(ordered), 1),
        p50=ordered[len(ordered) // 2] if ordered else 0.0,
        p90=ordered[len(ordered) * 9 // 10] if ordered else 0.0,
    )
    result = make_result(100, load=replace(load, duration_s=duration_s))
    counts = make_counts(len(arrivals), non2xx=errors)
    return load, replace(result, counts=counts, series=tuple(series), latency=latency, dead_time=0.0)


def rounds(response_s, opens_s, duration_s, connections):
    """The answers of connections that began together ``opens_s`` before the window."""
    ends = [i * response_s - opens_s for i in range(1, 1000)]
    within = [end for end in ends if 0 <= end < duration_s]
    return [end for end in within for _ in range(connections)], [response_s] * (len(within) * connections)


@given(st.floats(0.35, 2.0), st.floats(0.0, 1.0), st.floats(1.1, 4.0), st.integers(10, 200))
def test_rounds_that_a_window_cuts_are_no_faster_nor_slower(response_s, opened, length, connections):
    duration_s = max(round(length * response_s, 1), response_s)
    arrivals, latencies = rounds(response_s, opened * response_s, duration_s, connections)
    load, result = window(arrivals, latencies, connections=connections, duration_s=duration_s)
    if len(arrivals) >= connections:
        assert answered_per_s(load, result) == pytest.approx(connections / response_s)


def test_a_queue_that_still_fills_is_counted():
    # two processes, ten connections, half a second: the first answers waited for nobody
    arrivals = [0.5 * (1 + i // 2) for i in range(18)]
    latencies = [min(at, 2.5) for at in arrivals]
    load, result = window(arrivals, latencies, connections=10, duration_s=5.0)
    assert answered_per_s(load, result) == result.throughput_per_s


def test_many_answers_and_wrong_ones_are_counted():
    arrivals, latencies = rounds(0.05, 0.0, 2.0, 100)
    load, result = window(arrivals, latencies, connections=100, duration_s=2.0)
    assert answered_per_s(load, result) == result.throughput_per_s
    arrivals, latencies = rounds(0.5, 0.1, 1.3, 100)
    load, result = window(arrivals, latencies, connections=100, duration_s=1.3, errors=1)
    assert answered_per_s(load, result) == result.throughput_per_s
    load, result = window(arrivals, latencies, connections=100, duration_s=1.3)
    assert answered_per_s(replace(load, rate_per_s=100.0), result) == result.throughput_per_s
    assert answered_per_s(replace(load, requests=100), result) == result.throughput_per_s
    load, result = window([], [], connections=100, duration_s=1.3)
    assert answered_per_s(load, result) == 0.0


def test_connections_that_starve_are_not_taken_for_quick_ones():
    # forty of a hundred are answered round by round, the others never
    arrivals, latencies = rounds(0.5, 0.0, 2.0, 40)
    load, result = window(arrivals, latencies, connections=100, duration_s=2.0)
    assert answered_per_s(load, result) == result.throughput_per_s


@pytest.mark.parametrize(
    ("text", "cores"), [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("0,2", (0, 2)), ("6, 0-1,1", (0, 1, 6)), ("3-3", (3,))]
)
def test_a_list_is_read(text, cores):
    assert parse_cores(text) == cores


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "0,,1", "0x1", "1.5", "٣"])
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(InputError, match="write it like 0-3"):
        parse_cores(text)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_what_is_written_is_read_again(cores):
    assert parse_cores(format_cores(cores)) == tuple(sorted(cores))


def test_neighbours_become_a_range():
    assert format_cores((4, 0, 1, 2)) == "0-2,4"
    assert format_cores(()) == ""
