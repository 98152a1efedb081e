"""One stack's own throughput; quantiles of latency: enough answers, merged histograms, and limits that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stackrace.stats.summary import enough, intervals, on_common_buckets, quantile_interval


def test_one_launch_has_no_limits():
    (found,) = intervals([[math.log(500), math.nan]])
    assert found.value == pytest.approx(500)
    assert found.low is None
    assert found.high is None


def test_one_stack_of_three_launches_gets_students_interval():
    logs = np.log([90.0, 100.0, 115.0])
    (found,) = intervals([logs])
    half = scipy.stats.t.ppf(0.975, 2) * logs.std(ddof=1) / math.sqrt(3)
    assert found.low == pytest.approx(math.exp(logs.mean() - half), rel=1e-3)
    assert found.high == pytest.approx(math.exp(logs.mean() + half), rel=1e-3)


def test_a_stack_with_one_launch_gets_none_of_the_others_limits():
    first, second = intervals([[7.0, 7.1, 7.2], [8.0, math.nan, math.nan]])
    assert first.low is not None
    assert second.low is None


def test_a_stack_without_a_launch_is_refused():
    with pytest.raises(ValueError, match="at least one value"):
        intervals([[math.nan]])


def test_limits_cover_the_truth_even_when_all_stacks_share_their_weather():
    rng = np.random.default_rng(14)
    inside = 0
    for _ in range(1000):
        found = intervals(7 + rng.normal(0, 0.03, (4, 6)) + rng.normal(0, 0.1, 6))[0]
        inside += found.low <= math.exp(7) <= found.high
    assert 0.93 <= inside / 1000 <= 0.98


@given(st.lists(st.lists(st.floats(-5, 12), min_size=3, max_size=3), min_size=1, max_size=4), st.floats(-3, 3))
def test_a_faster_machine_moves_value_and_limits_alike(values, shift):
    for one, other in zip(intervals(values), intervals(np.array(values) + shift), strict=True):
        for name in ("value", "low", "high"):
            assert math.log(getattr(other, name)) == pytest.approx(math.log(getattr(one, name)) + shift, abs=1e-6)


def test_each_launch_has_a_row_and_each_bucket_a_column():
    values, counts = on_common_buckets([[(0.001, 3), (0.004, 1)], [(0.002, 5), (0.004, 2)]])
    assert values.tolist() == [0.001, 0.002, 0.004]
    assert counts.tolist() == [[3, 0, 1], [0, 5, 2]]


def test_the_slices_of_a_launch_are_added_up():
    _, counts = on_common_buckets([[(0.001, 3), (0.002, 1), (0.001, 4)]])
    assert counts.tolist() == [[7, 1]]


def test_a_launch_without_answers_keeps_its_row():
    _, counts = on_common_buckets([[(0.001, 3)], []])
    assert counts.tolist() == [[3], [0]]


EDGES = np.exp(np.linspace(np.log(1e-4), np.log(10), 600))


def histograms(rng, launches, requests, between=0.1):
    """Exponential latencies with a median of 10 ms whose scale differs between launches."""
    scales = 0.01 / math.log(2) * np.exp(rng.normal(0, between, launches))
    shares = 1 - np.exp(-EDGES / scales[:, None])
    shares = np.diff(np.concatenate([np.zeros((launches, 1)), shares], axis=1), axis=1)
    return rng.multinomial(requests, shares / shares.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("count", "q", "yes"), [(5000, 0.99, True), (4999, 0.99, False), (50_000, 0.999, True), (100, 0.5, True)]
)
def test_fifty_answers_beyond_a_quantile_are_enough(count, q, yes):
    assert enough(count, q) is yes


def quantile(values, counts, q):
    """Return the quantile of all answers of all launches."""
    answers = np.repeat(values, counts.sum(axis=0))
    return answers[max(math.ceil(q * len(answers) - 1e-9), 1) - 1]


@given(arrays(int, (3, 20), elements=st.integers(0, 2)), st.floats(0.01, 0.99))
def test_few_answers_have_the_quantile_of_all_launches_together(counts, q):
    values = np.arange(1.0, 21.0)
    assume(counts.any())
    assert quantile_interval(values, counts, q, draws=10).value == quantile(values, counts, q)


@given(arrays(int, (4, 12), elements=st.integers(0, 30)), st.floats(0.05, 0.95))
def test_limits_hold_the_merged_quantile_between_them_or_are_none(counts, q):
    values = np.arange(1.0, 13.0)
    found = quantile_interval(values, counts * 0 + np.minimum(counts, 1), q, draws=200)
    if found.low is not None and found.high is not None:
        assert found.low <= found.high
        assert {found.low, found.high} <= set(values)


# The truth of merged launches is the quantile of the mixture, found once from very many launches.
@pytest.mark.parametrize(("launches", "requests"), [(7, 600), (14, 600), (7, 8000), (14, 8000)])
def test_the_limits_of_p99_hold_it_in_nine_of_ten_races(launches, requests):
    rng = np.random.default_rng(launches + requests)
    few = not enough(requests, 0.99)
    truth = quantile(EDGES, histograms(rng, 3000, 2000), 0.99) if few else 0.01 / math.log(2) * math.log(100)
    inside = 0
    for _ in range(300):
        found = quantile_interval(EDGES, histograms(rng, launches, requests), 0.99, draws=400)
        inside += found.low <= truth <= found.high
    assert 0.90 <= inside / 300 <= 0.99


def test_the_same_histograms_give_the_same_limits():
    counts = histograms(np.random.default_rng(1), 6, 300)
    assert quantile_interval(EDGES, counts, 0.99) == quantile_interval(EDGES, counts, 0.99)


def test_launches_without_an_answer_are_left_out():
    counts = histograms(np.random.default_rng(2), 6, 300)
    gaps = np.concatenate([counts, np.zeros((2, len(EDGES)), dtype=int)])
    assert quantile_interval(EDGES, gaps, 0.99) == quantile_interval(EDGES, counts, 0.99)


def test_one_launch_has_a_quantile_without_limits_and_none_has_nothing():
    counts = histograms(np.random.default_rng(4), 1, 300)
    found = quantile_interval(EDGES, counts, 0.99)
    assert (found.value, found.low, found.high) == (quantile(EDGES, counts, 0.99), None, None)
    assert math.isnan(quantile_interval(EDGES, counts * 0, 0.99).value)


@pytest.mark.parametrize(("shape", "q"), [((2, 3), 0.5), ((4,), 0.5), ((2, 4), 1.0), ((2, 4), 0.0)])
def test_what_is_no_histogram_or_no_quantile_is_refused(shape, q):
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile_interval(np.arange(1.0, 5.0), np.ones(shape), q)
