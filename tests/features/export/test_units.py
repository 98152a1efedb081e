"""The words of a unit's commands, as systemd reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.export.unit_file import command_words, read_unit
from stackrace.features.export.units import quoted


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1), min_size=1, max_size=5))
def test_whatever_a_command_says_is_read_back(words):
    assert command_words(" ".join(map(quoted, words))) == tuple(words)


def test_signs_that_systemd_would_replace_are_doubled():
    assert quoted("100%") == '"100%%"'
    assert quoted("$HOME") == '"$$HOME"'


def test_a_line_goes_on_over_comments_and_an_empty_value_clears():
    unit = read_unit(
        "[Service]\nExecStart=/bin/a \\\n# why\n  -b\nEnvironment=A=1\nEnvironment=\nEnvironment=B=2\n"
    )
    assert unit["ExecStart"] == ["/bin/a -b"]
    assert unit["Environment"] == ["B=2"]


def test_a_line_that_is_none_is_named():
    with pytest.raises(ValueError, match="nonsense"):
        read_unit("[Service]\nnonsense\n")
