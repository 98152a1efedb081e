"""Text as databases and JSON take it comes back as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.text import legible, storable


@given(st.text(st.characters()))
def test_any_text_survives_storing(text):
    assert legible(storable(text)) == text


@given(st.text(st.characters()))
def test_stored_text_is_acceptable_to_every_database(text):
    stored = storable(text)
    assert "\0" not in stored
    assert stored.encode("utf-8").decode("utf-8") == stored


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\x1a")))
def test_ordinary_text_is_stored_as_it_is(text):
    assert storable(text) == text
