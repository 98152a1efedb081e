"""The search for the highest rate that keeps a goal."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import make_counts, make_quantiles, make_result

from stackrace.features.capacity import trials
from stackrace.features.capacity.estimate import crossing
from stackrace.features.capacity.rate_search import _CLOSE, _FARTHEST, HIGH, LOW, Search, Tried, monotone
from stackrace.features.capacity.trials import most_of, requests_for
from stackrace.measure.load import Load

ALLOWED = {"p50": 0.5}


def searching(reached: float, **further: float) -> Search:
    return Search(low=LOW * reached, high=HIGH * reached, allowed=ALLOWED, **further)


def trial(rate: float, truth: float, steep: float = 20.0) -> Tried:
    """What a server says that keeps its goal up to ``truth``: the more slow requests, the higher the rate."""
    slow = 1 / (1 + math.exp(min(-steep * math.log(rate / truth), 700))) if truth < math.inf else 0.0
    return Tried(rate_per_s=rate, kept=rate <= truth, slow={"p50": slow})


def ended(search: Search, truth: float) -> tuple[Search, list[float]]:
    tried = []
    while (rate := search.next_rate) is not None:
        tried.append(rate)
        search = search.after(trial(rate, truth))
    return search, tried


@given(st.floats(1e-3, 1e6), st.floats(0.02, 20.0))
def test_a_capacity_is_found_wherever_it_lies(reached: float, share: float) -> None:
    truth = share * reached
    found, tried = ended(searching(reached), truth)
    assert found.capacity is not None and found.capacity.value == pytest.approx(truth, rel=0.01)
    assert found.capacity.low <= found.capacity.value <= found.capacity.high
    assert len(tried) <= 20


@given(st.floats(1e-3, 1e6), st.floats(0.31, 1.04))
def test_the_trials_within_are_no_more_than_told(reached: float, share: float) -> None:
    search = searching(reached)
    left = [search.most_trials]
    while (rate := search.next_rate) is not None:
        search = search.after(trial(rate, share * reached))
        left.append(search.most_trials)
    assert len(search.tried) <= left[0] <= 12
    assert left == sorted(left, reverse=True) and left[-1] == 0


def test_no_rate_is_tried_that_the_server_cannot_reach() -> None:
    found, tried = ended(searching(100.0, most=102.0), math.inf)
    assert max(tried) == 102.0
    assert (found.capacity.value, found.lowest_missed) == (102.0, None)


def test_a_closed_loop_tells_the_most_where_requests_waited_and_none_was_given_up() -> None:
    ran = SimpleNamespace(result=replace(make_result(), latency=make_quantiles(2.0), counts=make_counts(100)))
    reached = ran.result.throughput_per_s
    assert reached < most_of(ran, 0.1) < 1.2 * reached
    assert most_of(ran, 1.5) == math.inf
    ran.result = replace(ran.result, counts=make_counts(100, timed_out=1))
    assert most_of(ran, 0.1) == math.inf


def test_a_closed_loop_whose_requests_time_out_is_repeated_with_half_of_its_connections(monkeypatch) -> None:
    """A server of 3.3/s whose clients give up after 10 s: 33 of them are answered in time."""
    tried, rests = [], []

    def measure(setup, load, watcher, *, warmup_s):
        tried.append(load.concurrency)
        late = max(load.concurrency - 33, 0)
        return SimpleNamespace(result=SimpleNamespace(counts=make_counts(50, timed_out=late)), interrupted=False)

    monkeypatch.setattr(trials, "measure", measure)
    idle = SimpleNamespace(rest=lambda: rests.append(tried[-1]))
    for connections, wanted in ((150, [150, 75, 37, 18]), (32, [32]), (35, [35])):
        tried.clear()
        trials._closed_loop(None, Load(concurrency=connections), idle, lambda *_: None)
        assert tried == wanted
    assert rests == [150, 75, 37]


def test_where_every_rate_keeps_the_goal_much_higher_ones_are_tried() -> None:
    found, tried = ended(searching(100.0), math.inf)
    assert max(tried) >= _FARTHEST * 100.0 / 2
    assert (found.capacity.value, found.lowest_missed) == (max(tried), None)


def test_where_none_keeps_it_much_lower_ones_are_tried() -> None:
    found, tried = ended(searching(100.0), 0.001)
    assert min(tried) <= 2 * LOW * 100.0 / _FARTHEST
    assert found.capacity is None and found.highest_kept is None


def test_of_several_limits_the_one_that_is_reached_first_counts() -> None:
    search = Search(low=30.0, high=105.0, allowed={"p50": 0.5, "p99": 0.01})
    for rate in (60.0, 70.0, 80.0):
        slow = {"p50": trial(rate, 90.0).slow["p50"], "p99": 0.01 * (rate / 70.0) ** 20}
        search = search.after(Tried(rate_per_s=rate, kept=rate <= 70.0, slow=slow))
    assert search.lowest_missed / search.highest_kept <= _CLOSE
    assert search.capacity.value == pytest.approx(70.0, rel=0.05)


def test_shares_that_fall_are_pooled() -> None:
    assert monotone([0.0, 0.2, 0.1, 0.6]) == pytest.approx([0.0, 0.15, 0.15, 0.6])
    assert monotone([0.3, 0.2, 0.1]) == pytest.approx([0.2, 0.2, 0.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_pooled_shares_never_fall_and_keep_their_mean(shares: list[float]) -> None:
    pooled = monotone(shares)
    assert all(low <= high + 1e-12 for low, high in pairwise(pooled))
    assert sum(pooled) == pytest.approx(sum(shares))


def test_a_lucky_trial_above_the_capacity_does_not_lead_away() -> None:
    """A curve that is flat up to its edge: one rate far above kept the goal by chance."""
    search = searching(100.0, most=120.0)
    for rate, slow in ((56.0, 0.001), (75.0, 0.001), (100.0, 0.4), (90.0, 0.55), (80.0, 0.3), (85.0, 0.52)):
        search = search.after(Tried(rate_per_s=rate, kept=slow <= 0.5, slow={"p50": slow}))
    assert 80.0 <= search.capacity.value <= 100.0


def test_chance_at_one_rate_does_not_decide() -> None:
    """A trial that is unlucky far below the capacity moves it a little, not there."""
    rates, truth = [80.0, 90.0, 97.0, 103.0, 97.0, 103.0], 100.0
    shares = [trial(rate, truth).slow["p50"] for rate in rates]
    shares[1] += 0.2
    assert crossing(rates, shares, 0.5).value == pytest.approx(truth, rel=0.03)


def test_limits_hold_the_truth_as_promised() -> None:
    dice = np.random.default_rng(7)
    rates = np.array([80.0, 95.0, 97.0, 103.0, 97.0, 103.0, 105.0, 120.0])
    held = 0
    for _ in range(400):
        right = 1 / (1 + np.exp(-20 * np.log(rates / 100.0)))
        found = crossing(rates, np.clip(right + dice.normal(0, 0.1, len(rates)), 0, 1), 0.5)
        held += found.low <= 100.0 <= found.high
    assert held >= 0.9 * 400


def test_two_trials_have_no_limits() -> None:
    found = crossing([90.0, 110.0], [0.2, 0.8], 0.5)
    assert (found.low, found.high) == (None, None)
    assert found.value == pytest.approx(99.5, rel=0.01)


def test_a_curve_that_leads_away_from_the_trials_has_no_limits() -> None:
    slow = {"p50": 0.1}
    tried = [Tried(rate_per_s=rate, kept=rate < 100, slow=slow) for rate in (90.0, 95.0, 98.0, 105.0, 106.0)]
    found = searching(100.0, tried=tuple(tried)).capacity
    assert found.value < 150.0
    assert (found.low, found.high) == (None, None)


def test_fifty_requests_lie_beyond_the_highest_quantile() -> None:
    assert requests_for([0.5]) == 100
    assert requests_for([0.5, 0.99]) == 5_000
    assert requests_for([0.999]) == 50_000
