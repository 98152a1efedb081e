"""Recorded races are shown as they were."""

from __future__ import annotations

import pytest
from tests.frozen import product
from tests.frozen.golden import assert_golden
from tests.frozen.shown import PRINTED, assert_drawn, assert_ended, assert_printed, assert_told_live

NAMES = product.recorded("race-")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with all of them."""
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", [*map(product.race, NAMES)])


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("name", NAMES)
def test_a_race_is_printed_as_it_was(name, form, store):
    assert_printed(name, form, store)


@pytest.mark.parametrize("name", NAMES)
def test_its_page_is_as_it_was(name, store, tmp_path):
    assert_drawn(name, store, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_its_verb_ends_as_it_did(name, store, tmp_path):
    assert_ended(name, store, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_as_it_was_where_stderr_is_no_terminal(name, monkeypatch, capsys):
    assert_told_live(name, monkeypatch, capsys)


def test_all_are_listed(store):
    assert_golden("list.txt", product.verb("report", "--list", store=store))
