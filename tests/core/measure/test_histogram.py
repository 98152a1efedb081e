"""Latency distributions: merged, cut into rows, written as percentiles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.measure.encoded import encode

from stackrace.base.errors import InputError
from stackrace.measure.engine.histogram import (
    Bucket,
    distribution,
    edges,
    merge,
    percentile_distribution,
    quantiles,
    rows,
)
from stackrace.measure.load import Quantiles

EMPTY = merge([])


def test_nothing_merges_to_an_empty_distribution() -> None:
    assert quantiles([]) == Quantiles(count=0, mean=0.0, p50=0.0, p90=0.0, p99=0.0, p999=0.0, max=0.0)
    assert quantiles([EMPTY, EMPTY]).count == 0
    assert distribution(EMPTY) == ()


@pytest.mark.parametrize("damaged", [b"", b"rubbish", EMPTY[:-1], EMPTY + b"x"])
def test_a_damaged_distribution_is_refused(damaged: bytes) -> None:
    with pytest.raises(InputError, match="damaged"):
        quantiles([damaged])
    with pytest.raises(InputError, match="damaged"):
        distribution(damaged)


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


MS = 1_000_000

# Five answers in 1 ms, four in 2 ms, one in 10 ms. A bucket of 1 ms is 512 ns wide and ends at 1 000 447 ns, one of
# 2 ms 1024 ns and ends at 2 000 895 ns, one of 10 ms 8192 ns and ends at 10 002 431 ns. The first holds everything
# up to 50 %, the second up to 90 %; steps are 10 %, 5 % from 50 % on, 2.5 % from 75 % on, 1.25 % from 87.5 % on.
BY_HAND = """\
       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000          5           1.00
       1.000 0.100000000000          5           1.11
       1.000 0.200000000000          5           1.25
       1.000 0.300000000000          5           1.43
       1.000 0.400000000000          5           1.67
       1.000 0.500000000000          5           2.00
       2.001 0.550000000000          9           2.22
       2.001 0.600000000000          9           2.50
       2.001 0.650000000000          9           2.86
       2.001 0.700000000000          9           3.33
       2.001 0.750000000000          9           4.00
       2.001 0.775000000000          9           4.44
       2.001 0.800000000000          9           5.00
       2.001 0.825000000000          9           5.71
       2.001 0.850000000000          9           6.67
       2.001 0.875000000000          9           8.00
       2.001 0.887500000000          9           8.89
       2.001 0.900000000000          9          10.00
      10.002 0.912500000000         10          11.43
      10.002 1.000000000000         10
#[Mean    =        2.300, StdDeviation   =        2.609]
#[Max     =       10.002, Total count    =           10]
#[Buckets =           32, SubBuckets     =         2048]
"""


def test_a_small_distribution_is_what_it_is_by_hand() -> None:
    assert percentile_distribution(encode({MS: 5, 2 * MS: 4, 10 * MS: 1})) == BY_HAND


def test_nothing_has_a_header_and_a_footer() -> None:
    lines = percentile_distribution(merge([])).splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert [line[:2] for line in lines[2:]] == ["#["] * 3


def test_lower_bounds_are_told_in_a_comment() -> None:
    both = encode({MS: 9, 20 * MS: 1}) + encode({20 * MS: 1})
    assert percentile_distribution(both).splitlines()[-1].startswith("#[Lower bounds = 1 value")


@given(st.dictionaries(st.integers(0, 3600 * 10**9), st.integers(1, 10**6), min_size=1, max_size=40))
def test_lines_ascend_to_everything(values: dict[int, int]) -> None:
    encoded = encode(values)
    lines = [line.split() for line in percentile_distribution(encoded).splitlines()[2:] if not line.startswith("#")]
    for column in (0, 1, 2):
        numbers = [float(line[column]) for line in lines]
        assert numbers == sorted(numbers)
    assert lines[-1][1:] == ["1.000000000000", str(sum(values.values()))]
    assert sum(bucket.count for bucket in distribution(encoded)) == sum(values.values())
