"""One registry for all ids, and pretty names in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.base import ids
from stackrace.base.errors import InputError, StoreError

NAME = "before-upgrade-2024"


def test_a_race_is_found_by_its_name(store, writer):
    race_id = ids.generate()
    store.begin(writer.make_race(race_id))
    assert store.name(race_id[:8], f" {NAME.upper()} ") == NAME
    assert store.load(NAME).id == store.load(NAME.title()).id == race_id
    assert store.name(race_id, NAME) == NAME, "the same again is nothing new"


def test_a_name_is_given_once_and_to_one_race(store, writer):
    first, second = ids.generate(), ids.generate()
    store.begin(writer.make_race(first))
    store.begin(writer.make_race(second))
    store.name(first, NAME)
    with pytest.raises(StoreError, match=f"already the name of race {first}"):
        store.name(second, NAME)
    with pytest.raises(StoreError, match=f"already has the name '{NAME}'"):
        store.name(first, "another-good-name")
    with pytest.raises(InputError, match="13 to 32"):
        store.name(second, "short")
    with pytest.raises(StoreError, match="did you mean one of these"):
        store.name("zzzz", "another-good-name")


def test_an_id_is_used_once_across_all_tables(store, writer):
    race_id, launch_id = ids.generate(), ids.generate()
    store.begin(writer.make_race(race_id))
    store.add_launch(race_id, writer.make_launch(launch_id))
    with pytest.raises(StoreError, match="already in use"):
        store.begin(writer.make_race(launch_id))
    with pytest.raises(StoreError, match="already in use"):
        store.add_launch(race_id, writer.make_launch(race_id))
    store.name(race_id, NAME)
    with pytest.raises(StoreError, match="already in use"):
        store.begin(replace(writer.make_race(race_id), id=NAME))


def test_naming_is_no_alteration(store, writer):
    race = writer.make_race(ids.generate())
    store.begin(race)
    store.name(race.id, NAME)
    assert store.load(race.id) == race
