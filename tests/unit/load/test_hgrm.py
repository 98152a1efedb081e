"""The text that HdrHistogram's plotters read, against one worked out by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.load.encoded import encode

from stackrace.measure.engine.histogram import distribution, merge, percentile_distribution

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
