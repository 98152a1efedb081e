"""The knee: where more clients stop helping."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.model.standing import Interval
from stackrace.stats.knee import knee


def around(value, spread=0.05):
    return Interval(value=value, low=value * (1 - spread), high=value * (1 + spread))


def test_the_knee_is_where_throughput_comes_within_the_limits_of_its_maximum():
    assert knee([1, 20, 100, 250], [around(300), around(950), around(1000), around(900)]) == 20


def test_the_levels_may_come_in_any_order():
    assert knee([100, 1, 20], [around(1000), around(300), around(950)]) == 20


def test_two_levels_have_no_knee():
    assert knee([1, 20], [around(300), around(950)]) is None


def test_levels_without_limits_have_no_knee():
    assert knee([1, 20, 100], [around(300), Interval(value=950), around(1000)]) is None


def test_every_concurrency_needs_its_throughput():
    with pytest.raises(ValueError, match="zip"):
        knee([1, 20, 100], [around(300)])


@given(st.dictionaries(st.integers(1, 999), st.floats(1, 1e6), min_size=3, max_size=8), st.floats(0, 0.5))
def test_the_knee_is_never_beyond_the_maximum(levels, spread):
    found = knee(list(levels), [around(value, spread) for value in levels.values()])
    assert found is not None
    assert found <= min(n for n, value in levels.items() if value == max(levels.values()))
