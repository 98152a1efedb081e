"""A stored result cannot be altered silently: not through Django, not with the sqlite3 shell's means."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from stackrace.base import ids
from stackrace.measure.launch import MemorySample, StackFacts
from stackrace.race.results.race import Ending
from stackrace.store.lookup import Deed


@pytest.fixture
def race(store, writer):
    """A race as the sink writes it: measured, ended, untouched."""
    launch = writer.make_launch(ids.generate())
    race = writer.make_race(ids.generate())
    store.begin(race)
    store.add_facts(race.id, StackFacts(stack=launch.stack, versions={"gunicorn": "23.0"}))
    store.add_launch(race.id, launch)
    store.add_slice(launch.id, writer.make_slice(0))
    ended = replace(launch, ready_s=0.5, warmup_s=2.0, memory=(MemorySample(at_s=0.1, pss_bytes={"gunicorn": 1}),))
    store.end_launch(ended)
    store.end(race.id, Ending.ANSWERED, 12.5)
    return store.load(race.id)


@pytest.fixture
def foreign(url):
    """Run statements as another program does: no foreign keys, no functions, no name."""

    def run(*statements):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
            return [database.execute(statement).fetchall() for statement in statements]

    return run


def test_measuring_leaves_no_history(store, race):
    assert store.alterations(race.id) == ()
    assert race.notes == ()


def test_a_race_stored_whole_has_no_history(store, race):
    whole = replace(race, id=ids.generate(), launches=(replace(race.launches[0], id=ids.generate()),))
    store.begin(whole)
    assert store.alterations(whole.id) == ()
    assert store.load(whole.id) == whole


@pytest.mark.parametrize(
    ("statement", "kind", "changed"),
    [
        ("UPDATE stackrace_race SET ending = 'budget', elapsed_s = 1.5", "race", {"ending", "elapsed_s"}),
        ("UPDATE stackrace_race SET ending = NULL", "race", {"ending"}),
        ("UPDATE stackrace_stack_facts SET document = '{}'", "facts", {"document"}),
        ("UPDATE stackrace_launch SET document = replace(document, '0.5', '0.1')", "launch", {"document"}),
        ("UPDATE stackrace_launch SET document = '{}', block = 3", "launch", {"document", "block"}),
        ("UPDATE stackrace_slice SET document = '{}'", "slice", {"document"}),
        ("UPDATE stackrace_slice SET document = x'00ff'", "slice", {"document"}),
    ],
)
def test_a_change_from_outside_leaves_what_was_before(store, race, foreign, statement, kind, changed):
    foreign(statement)
    (alteration,) = store.alterations(race.id)
    assert (alteration.kind, alteration.deed, alteration.who) == (kind, Deed.CHANGED, "unknown")
    assert set(alteration.changed) == changed <= set(alteration.before)
    assert alteration.at.endswith("+00:00")


def test_the_row_before_is_complete_and_exact(store, race, foreign):
    (before,) = foreign("SELECT document FROM stackrace_slice")[0]
    foreign("UPDATE stackrace_race SET elapsed_s = 0.1 + 0.2, budget_s = 9e999")
    foreign("UPDATE stackrace_race SET elapsed_s = 1", "UPDATE stackrace_slice SET document = x'00'")
    exact, document = (alteration.before for alteration in store.alterations(race.id)[1:])
    assert float(exact["elapsed_s"]) == 0.1 + 0.2
    assert float(exact["budget_s"]) == float("inf")
    assert (document["document"],) == before
    assert [row[1] for row in foreign("PRAGMA table_info(stackrace_slice)")[0]] == list(document)


def test_a_change_of_nothing_is_none(store, race, foreign):
    foreign("UPDATE stackrace_slice SET document = document")
    assert store.alterations(race.id) == ()


def test_a_change_through_our_own_connection_is_signed(store, race, monkeypatch):
    from django.db import connections

    store.close()
    monkeypatch.setenv("LOGNAME", "o'hara")
    with connections[store.alias].cursor() as cursor:
        cursor.execute("UPDATE stackrace_race SET app = 'other'")
    assert [alteration.who for alteration in store.alterations(race.id)] == ["o'hara, stackrace"]


def test_what_is_measured_cannot_be_altered_even_while_the_race_runs(store, writer, foreign):
    race, launch = writer.make_race(ids.generate()), writer.make_launch(ids.generate())
    store.begin(race)
    store.add_launch(race.id, launch)
    store.add_slice(launch.id, writer.make_slice(0))
    foreign(
        "UPDATE stackrace_slice SET document = '{}'", "UPDATE stackrace_race SET document = '{}', ending = 'budget'"
    )
    assert [alteration.kind for alteration in store.alterations(race.id)] == ["slice", "race"]


GOING_ON = "UPDATE stackrace_race SET ending = NULL, resumed = 1"
CUT = "failure_kind = 'interrupted'"


def interrupted(store, writer):
    """An interrupted race with a launch that ended and has a slice."""
    race, launch = writer.make_race(ids.generate()), writer.make_launch(ids.generate())
    store.begin(race)
    store.add_launch(race.id, launch)
    store.add_slice(launch.id, writer.make_slice(0))
    store.end_launch(replace(launch, ready_s=0.5, memory=(MemorySample(at_s=0.1, pss_bytes={"gunicorn": 1}),)))
    store.end(race.id, Ending.INTERRUPTED, 12.5)
    return race


def test_that_an_interrupted_race_goes_on_is_measuring(store, writer, foreign):
    race = interrupted(store, writer)
    foreign(GOING_ON, f"UPDATE stackrace_launch SET {CUT}, document = '{{}}'")
    assert store.alterations(race.id) == ()
    assert store.load(race.id).resumed == 1


@pytest.mark.parametrize(
    ("statements", "changed"),
    [
        (["UPDATE stackrace_race SET ending = NULL"], {"ending"}),
        (["UPDATE stackrace_race SET ending = 'budget', resumed = 1"], {"ending", "resumed"}),
        (["UPDATE stackrace_race SET ending = NULL, resumed = 2"], {"ending", "resumed"}),
        (["UPDATE stackrace_race SET ending = NULL, resumed = 'x'"], {"ending", "resumed"}),
        ([f"{GOING_ON}, app = '8'"], {"ending", "resumed", "app"}),
        ([f"UPDATE stackrace_launch SET {CUT}"], {"failure_kind"}),
        ([GOING_ON, f"UPDATE stackrace_launch SET {CUT}, block = 7"], {"failure_kind", "block"}),
        ([GOING_ON, "UPDATE stackrace_launch SET document = '{}'"], {"document"}),
        ([GOING_ON, "UPDATE stackrace_launch SET failure_kind = 'died'"], {"failure_kind"}),
        ([GOING_ON, f"UPDATE stackrace_launch SET {CUT}", "UPDATE stackrace_launch SET failure_kind = NULL"],
         {"failure_kind"}),
        ([GOING_ON, f"UPDATE stackrace_launch SET {CUT}", f"UPDATE stackrace_launch SET {CUT}, document = '{{}}'"],
         {"document"}),
    ],
)  # fmt: skip
def test_whatever_else_is_done_to_an_interrupted_race_is_told(store, writer, foreign, statements, changed):
    race = interrupted(store, writer)
    foreign(*statements)
    (alteration,) = store.alterations(race.id)
    assert set(alteration.changed) == changed


def test_what_joins_a_race_after_its_end_is_told(store, race, writer):
    store.add_slice(race.launches[0].id, writer.make_slice(1))
    store.add_launch(race.id, writer.make_launch(ids.generate()))
    deeds = [(alteration.kind, alteration.deed) for alteration in store.alterations(race.id)]
    assert deeds == [("slice", Deed.ADDED), ("launch", Deed.ADDED)]


def test_a_deleted_race_is_still_known_and_every_row_kept(store, race, foreign):
    for table in ("launch", "slice", "stack_facts", "race"):  # a launch before its slices: no foreign keys here
        foreign(f"DELETE FROM stackrace_{table}")
    gone = store.alterations(store.find(race.id[:6], deleted=True))
    assert [alteration.kind for alteration in gone] == ["launch", "slice", "facts", "race"]
    assert {alteration.deed for alteration in gone} == {Deed.DELETED}
    assert gone[0].before["stack"] == race.launches[0].stack
    assert foreign("SELECT count(*) FROM stackrace_ids") == [[(0,)]]


def test_a_report_of_an_altered_race_says_so(store, race, foreign):
    foreign("UPDATE stackrace_race SET app = 'faster'", "UPDATE stackrace_race SET app = 'fastest'")
    (note,) = store.load(race.id).notes
    assert "altered 2 times" in note and f"stackrace history {race.id}" in note and "by unknown" in note


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stackrace_race SET id = '0000000000000'",
        "UPDATE stackrace_launch SET position = 7",
        "UPDATE stackrace_slice SET launch_id = 'other'",
        "UPDATE stackrace_ids SET id = '0000000000000'",
        "DELETE FROM stackrace_ids",
        "INSERT OR REPLACE INTO stackrace_launch SELECT * FROM stackrace_launch",
        "REPLACE INTO stackrace_slice SELECT * FROM stackrace_slice",
    ],
)
def test_what_would_leave_no_trace_is_refused(store, race, foreign, statement):
    with pytest.raises(sqlite3.IntegrityError):
        foreign(statement)
    assert store.load(race.id) == race


def test_history_covers_every_column_of_every_table(store):
    from django.apps import apps
    from django.db import connections

    with connections[store.alias].cursor() as cursor:
        triggers = dict(cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
    for model in apps.get_app_config("stackrace").get_models():
        table = model._meta.db_table
        if table in ("stackrace_history", "stackrace_ids"):
            continue
        for field in model._meta.concrete_fields:
            assert f'OLD."{field.column}"' in triggers[f"{table}_update"], (table, field.column)
            assert f"'{field.column}'" in triggers[f"{table}_delete"], (table, field.column)
