"""Quantities, parsed and formatted by one table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.base.units import COUNT, DURATION, PERCENT, RATE, SIZE


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        (DURATION, "200ms", 0.2),
        (DURATION, "5s", 5),
        (DURATION, "20min", 1200),
        (DURATION, "1.5h", 5400),
        (DURATION, "90", 90),
        (RATE, "1.5k/s", 1500),
        (RATE, "200/s", 200),
        (RATE, "200", 200),
        (RATE, "12k/min", 200),
        (RATE, "90/min", 1.5),
        (RATE, "2k", 2000),
        (SIZE, "512MiB", 512 * 1024**2),
        (COUNT, "10k", 10_000),
        (PERCENT, "5%", 0.05),
    ],
)
def test_quantities_are_read_with_their_unit(unit, text, value):
    assert unit.parse(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "fast", "5 parsecs", "-3s", "1e3s", "1.s"])
def test_what_is_no_quantity_gets_an_example_of_one(text):
    with pytest.raises(InputError, match="write it like"):
        DURATION.parse(text)


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        (DURATION, 0.0123, "12.3 ms"),
        (DURATION, 0, "0 s"),
        (DURATION, 180, "3 min"),
        (DURATION, 4.2e-5, "42 µs"),
        (RATE, 1234, "1.23 k/s"),
        (RATE, 20, "20/s"),
        (RATE, 0.00002, "0.00002/s"),
        (SIZE, 64 * 1024**2, "64 MiB"),
        (PERCENT, 0.05, "5%"),
    ],
)
def test_quantities_are_shown_with_three_digits(unit, value, text):
    assert unit.format(value) == text


@given(st.floats(1e-6, 1e6))
def test_what_is_shown_reads_back_within_its_three_digits(seconds):
    assert DURATION.parse(DURATION.format(seconds)) == pytest.approx(seconds, rel=0.006)
