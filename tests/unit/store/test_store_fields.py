"""Columns give back what was put in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st


@given(st.text(st.characters()))
def test_any_text_survives_storing(store_fields, text):
    assert store_fields.legible(store_fields.storable(text)) == text


@given(st.text(st.characters()))
def test_stored_text_is_acceptable_to_every_database(store_fields, text):
    stored = store_fields.storable(text)
    assert "\0" not in stored
    assert stored.encode("utf-8").decode("utf-8") == stored


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\x1a")))
def test_ordinary_text_is_stored_as_it_is(store_fields, text):
    assert store_fields.storable(text) == text
