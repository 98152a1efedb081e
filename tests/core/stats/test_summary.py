"""Summaries: one stack's own throughput."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.summary import intervals


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
