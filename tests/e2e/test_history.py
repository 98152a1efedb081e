"""Altered results tell; races have names."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from tests.factories import make_race

from stackrace.base import ids
from stackrace.store import open_store


@pytest.fixture
def kept(tmp_path):
    """A store with one race in it: the path and the race."""
    path = tmp_path / "races.sqlite3"
    race = replace(make_race(stacks=2, levels=(20,), blocks=3), id=ids.generate())
    with open_store(str(path)) as store:
        store.begin(race)
    return path, race


def alter(path, *statements):
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_a_race_that_was_never_altered_says_so(stackrace, kept):
    path, race = kept
    done = stackrace("history", "--store", path)
    assert (done.returncode, done.stdout) == (0, f"race {race.id} was never altered\n")
    document = json.loads(stackrace("history", race.id[:6], "--json", "--store", path).stdout)
    assert document == {"race": race.id, "altered": False, "alterations": []}


def test_an_altered_race_tells_who_when_and_what_was_before_and_its_reports_say_so(stackrace, kept):
    path, race = kept
    alter(path, "UPDATE stackrace_race SET app = 'rival'", "DELETE FROM stackrace_stack_facts")
    done = stackrace("history", race.id[:6], "--store", path)
    lines = done.stdout.splitlines()
    assert lines[0] == f"race {race.id} was altered 3 times:"
    assert lines[1].endswith(f"unknown: changed race {race.id}") and lines[2].strip() == 'app was "shop"'
    assert "deleted facts" in lines[3]
    document = json.loads(stackrace("history", race.id, "--json", "--store", path).stdout)
    assert document["altered"]
    assert document["alterations"][0]["before"]["app"] == "shop"
    assert document["alterations"][1]["deed"] == "delete"
    for form in ([], ["--json"], ["--html", path.with_suffix(".html")]):
        shown = stackrace("report", race.id, *form, "--store", path).stdout
        if form[:1] == ["--html"]:
            shown = path.with_suffix(".html").read_text()
        assert f"stackrace history {race.id}" in " ".join(shown.split()), form


def test_a_deleted_race_is_found_by_the_start_of_its_id(stackrace, kept):
    path, race = kept
    alter(path, *(f"DELETE FROM stackrace_{table}" for table in ("slice", "launch", "stack_facts", "race")))
    assert "deleted race" in stackrace("history", race.id[:6], "--store", path).stdout
    assert stackrace("report", race.id, "--store", path).returncode == 2


def test_a_race_is_called_by_its_name_wherever_its_id_would_do(stackrace, kept):
    path, race = kept
    done = stackrace("name", race.id[:6], "Before-Upgrade-2024", "--store", path)
    assert done.stdout == f"race {race.id} is now called before-upgrade-2024\n"
    assert "shop" in stackrace("report", "before-upgrade-2024", "--store", path).stdout
    assert "never altered" in stackrace("history", "before-upgrade-2024", "--store", path).stdout
    again = stackrace("name", race.id, "another-good-name", "--store", path)
    assert again.returncode == 2 and "a name never changes" in again.stderr


def test_an_empty_store_says_how_to_fill_it(stackrace, tmp_path):
    done = stackrace("history", "--store", tmp_path / "none.sqlite3")
    assert done.returncode == 2 and "stackrace run" in done.stderr
