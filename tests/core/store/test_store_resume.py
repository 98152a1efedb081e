"""An interrupted race goes on from its checkpoint in the store, after its last whole block."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from tests.factories import make_race

from stackrace.base.errors import StoreError
from stackrace.measure.launch import Launch
from stackrace.race.events import (
    BlockEnded,
    LaunchEnded,
    LaunchStarted,
    RaceEnded,
    RaceResumed,
    RaceStarted,
    SliceEnded,
)
from stackrace.race.results.race import Ending
from stackrace.race.run.resume import Checkpoint, going_on
from stackrace.store.recorder import StoreSink

CHECKPOINT = Checkpoint(
    request={"folder": "/srv/\udcff\0", "seed": 2**70}, interpreter="/venv/python", sources="ab12", folder="/t/one"
)
RACE = make_race(stacks=2, levels=(10,), blocks=3, ending=None, elapsed_s=0.0)


def events_of(race):
    """Yield what a race tells, from its start until a second Ctrl-C would end it; a block takes ten seconds."""
    yield RaceStarted(replace(race, launches=()))
    for block in range(1 + max(launch.block for launch in race.launches)):
        for launch in (each for each in race.launches if each.block == block):
            yield LaunchStarted(Launch(id=launch.id, block=block, stack=launch.stack))
            yield from (SliceEnded(launch.id, each) for each in launch.slices)
            yield LaunchEnded(launch)
        yield BlockEnded(block + 1, replace(race, elapsed_s=10.0 * (block + 1)))


EVENTS = tuple(events_of(RACE))


@pytest.mark.parametrize("ending", [None, Ending.INTERRUPTED])
@pytest.mark.parametrize("kept", range(1, len(EVENTS) + 1))
def test_a_race_that_ends_after_any_event_goes_on_after_its_last_whole_block(store, kept, ending):
    told, sink = EVENTS[:kept], StoreSink(store, CHECKPOINT)
    for event in told:
        sink(event)
    if ending is not None:
        sink(RaceEnded(ending, 99.0))
    blocks = sum(isinstance(event, BlockEnded) for event in told)
    checkpoint = store.checkpoint(RACE.id)
    assert checkpoint == replace(CHECKPOINT, blocks=blocks, spent_s=10.0 * blocks)
    before = store.load(RACE.id)
    former = going_on(before, done=checkpoint.blocks, spent_s=checkpoint.spent_s)
    moved = replace(checkpoint, folder="/tmp/other")
    StoreSink(store, moved)(RaceResumed(former))
    stored = store.load(RACE.id)
    assert stored == replace(former, elapsed_s=before.elapsed_s)
    whole = [launch for launch in RACE.launches if launch.block < blocks]
    assert [launch for launch in stored.launches if not launch.cut_short] == whole
    assert store.checkpoint(RACE.id) == moved
    assert store.alterations(RACE.id) == ()


def test_a_race_that_went_on_counts_its_blocks_on(store):
    *_, last = EVENTS
    sink = StoreSink(store, replace(CHECKPOINT, blocks=2, spent_s=20.0))
    sink(EVENTS[0])
    sink(last)
    assert store.checkpoint(RACE.id) == replace(CHECKPOINT, blocks=3, spent_s=30.0)


def test_the_end_of_a_block_waits_for_the_disk_and_a_slice_does_not(store):
    """Source: SQLite, "PRAGMA synchronous": 1 is NORMAL, 2 is FULL."""
    from django.db import connections

    levels = {}

    def note(execute, sql, params, many, context):
        (level,) = context["connection"].connection.execute("PRAGMA synchronous").fetchone()
        levels.setdefault((type(event).__name__, sql.split()[0]), level)
        return execute(sql, params, many, context)

    sink = StoreSink(store, CHECKPOINT)
    with connections[store.alias].execute_wrapper(note):
        for event in EVENTS:
            sink(event)
    assert levels["SliceEnded", "INSERT"] == 1
    assert levels["BlockEnded", "UPDATE"] == 2


def test_a_race_without_a_checkpoint_has_none(store):
    sink = StoreSink(store)
    for event in EVENTS:
        sink(event)
    assert store.checkpoint(RACE.id) is None


@pytest.mark.parametrize("document", ["{}", "[]", "broken", '{"request":{},"from_a_later_version":1}'])
def test_a_checkpoint_that_was_altered_is_told(store, url, document):
    store.begin(RACE, CHECKPOINT)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
        database.execute("UPDATE stackrace_race SET checkpoint = ?", [document])
    with pytest.raises(StoreError, match="was altered, or written by another version"):
        store.checkpoint(RACE.id)


def test_an_interrupted_race_goes_on_in_the_store_and_its_history_is_empty(store):
    race = make_race(stacks=3, levels=(10,), blocks=3, ending=None)
    store.begin(race)
    store.end(race.id, Ending.INTERRUPTED, 40.0)
    former = going_on(store.load(race.id), done=2, spent_s=30.0, budget_s=9000.0)
    store.resume(former, CHECKPOINT)
    stored = store.load(race.id)
    assert stored == replace(former, elapsed_s=40.0)
    again = make_race(stacks=3, levels=(10,), blocks=3, seed=8).launches[-3:]
    for launch in again:
        store.add_launch(race.id, replace(launch, slices=()))
        store.end_launch(launch)
    store.end(race.id, Ending.COMPLETED, 50.0)
    ended = store.load(race.id)
    assert (ended.ending, ended.elapsed_s, ended.resumed) == (Ending.COMPLETED, 50.0, 1)
    assert [launch.id for launch in ended.launches] == [one.id for one in (*race.launches, *again)]
    assert store.alterations(race.id) == ()


def test_a_killed_race_goes_on_with_launches_that_never_ended(store, writer):
    race = writer.make_race("5" * 13)
    launch = writer.make_launch("6" * 13)
    store.begin(race)
    store.add_launch(race.id, launch)
    former = going_on(store.load(race.id), done=0, spent_s=0.0)
    store.resume(former, CHECKPOINT)
    assert store.load(race.id) == former
    assert store.load(race.id).launches[0].cut_short
    assert store.alterations(race.id) == ()


def test_only_one_of_two_goes_on(store):
    race = make_race(stacks=2, levels=(10,), blocks=1, ending=Ending.INTERRUPTED)
    store.begin(race)
    former = going_on(store.load(race.id), done=0, spent_s=0.0)
    store.resume(former, CHECKPOINT)
    with pytest.raises(StoreError, match="was not interrupted"):
        store.resume(former, CHECKPOINT)


@pytest.mark.parametrize("ending", [one for one in Ending if one is not Ending.INTERRUPTED])
def test_a_race_that_ended_well_does_not_go_on(store, ending):
    race = make_race(stacks=2, levels=(10,), blocks=1, ending=ending)
    store.begin(race)
    before = store.load(race.id)
    with pytest.raises(StoreError, match="was not interrupted"):
        store.resume(going_on(before, done=0, spent_s=0.0), CHECKPOINT)
    assert store.load(race.id) == before


def test_unfinished_races_are_listed_newest_first(store):
    for number, ending in enumerate((None, Ending.INTERRUPTED, Ending.BUDGET, None)):
        race = make_race(stacks=2, levels=(10,), blocks=1, seed=number, ending=ending)
        store.begin(replace(race, id=str(number) * 13, started_at=f"2026-01-0{number + 1}T00:00:00+00:00"))
    assert store.unfinished() == ("3" * 13, "1" * 13, "0" * 13)
