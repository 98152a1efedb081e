from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.measure.engine.histogram import Bucket, edges, rows

VALUES = st.lists(st.floats(1e-9, 3600), min_size=1, max_size=50).map(sorted)


def buckets(values: list[float]) -> tuple[Bucket, ...]:
    return tuple(Bucket(value_s=value, count=1 + index) for index, value in enumerate(values))


def test_nothing_has_no_rows() -> None:
    assert edges(()) == ()
    assert rows((), ()) == ()


def test_values_that_are_all_alike_take_one_row() -> None:
    one = buckets([0.002])
    (row,) = rows(one, edges(one))
    assert (row.count, row.share, row.cumulative) == (1, 1.0, 1.0)


@given(VALUES, VALUES)
def test_no_value_is_lost_even_on_an_axis_shared_with_others(first: list[float], second: list[float]) -> None:
    upper = edges(buckets(first), buckets(second))
    assert 1 <= len(upper) <= 14
    assert list(upper) == sorted(upper)
    for values in (first, second):
        drawn = rows(buckets(values), upper)
        assert sum(row.count for row in drawn) == sum(bucket.count for bucket in buckets(values))
        assert drawn[-1].cumulative == pytest.approx(1.0)
