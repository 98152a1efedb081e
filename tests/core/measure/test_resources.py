"""Lists of cores, as cpuset(7) writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.measure.resources import format_cores, parse_cores


@pytest.mark.parametrize(
    ("text", "cores"),
    [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("0,2", (0, 2)), ("6, 0-1,1", (0, 1, 6)), ("3-3", (3,))],
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
