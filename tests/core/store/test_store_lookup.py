"""Finding a race by the beginning of its id, and listing races."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.race.results.race import Ending
from stackrace.race.run.resume import Checkpoint
from stackrace.store.lookup import Progress, the_one

IDS = ("2bcd000000000", "1abc000000000", "1abd000000000")


@pytest.mark.parametrize("prefix", ["2", "2B", " 2bcd ", "2bcd000000000"])
def test_a_unique_prefix_is_enough(prefix):
    assert the_one(prefix, IDS) == "2bcd000000000"


def test_an_ambiguous_prefix_lists_what_it_begins():
    with pytest.raises(StoreError, match="2 ids begin with") as caught:
        the_one("1ab", IDS)
    assert caught.value.detail.split() == ["1abc000000000", "1abd000000000"]


def test_a_mistyped_prefix_lists_near_ids():
    with pytest.raises(StoreError, match="'1abx'") as caught:
        the_one("1abx", IDS)
    assert set(caught.value.detail.split()) == {"1abc000000000", "1abd000000000"}


def test_a_prefix_near_nothing_lists_the_newest():
    with pytest.raises(StoreError) as caught:
        the_one("zzzz", [f"{number:013d}" for number in range(12)])
    lines = caught.value.detail.splitlines()
    assert lines[0] == "0000000000000"
    assert lines[-1] == "and 2 more"


def test_an_empty_store_says_how_to_fill_it(store):
    assert store.latest() is None
    assert store.list(5) == ()
    with pytest.raises(StoreError, match="stackrace run"):
        store.load("1")


def test_races_are_listed_newest_first(store, writer):
    for number, race_id in enumerate(IDS):
        store.begin(writer.make_race(race_id, f"2024-05-06T07:08:0{number}+00:00"))
    store.end(IDS[1], Ending.BUDGET, 60.0)
    assert store.latest() == IDS[2]
    listed = store.list(2)
    assert [summary.id for summary in listed] == [IDS[2], IDS[1]]
    assert [summary.ending for summary in listed] == [None, Ending.BUDGET]
    assert (listed[0].app, len(listed[0].stacks)) == ("demo", 2)
    assert listed[0].started_at == "2024-05-06T07:08:02+00:00"


def test_the_last_race_is_the_one_that_began_last_although_the_clock_was_set_back(store, writer):
    for race_id, hour in zip(IDS, (7, 5, 4), strict=True):
        store.begin(writer.make_race(race_id, f"2024-05-06T0{hour}:00:00+00:00"))
    fetched = replace(writer.make_race("3abc000000000", "2024-05-06T03:00:00+00:00"), ending=Ending.BUDGET)
    store.begin(fetched)
    assert store.latest() == IDS[2]
    assert store.unfinished() == (IDS[2], IDS[1], IDS[0])
    assert [summary.id for summary in store.list(None)] == [IDS[2], IDS[1], IDS[0], fetched.id]


def test_the_progress_of_a_race_is_its_blocks_its_slices_and_what_they_took(store, writer):
    race = writer.make_race(IDS[0])
    checkpoint = Checkpoint(request={})
    store.begin(race, checkpoint)
    assert store.progress(race.id) == Progress(ending=None, blocks=0, slices=0, spent_s=0.0)
    launch = writer.make_launch(ids.generate())
    store.add_launch(race.id, launch)
    store.add_slice(launch.id, writer.make_slice(0))
    store.end_block(race.id, replace(checkpoint, blocks=1, spent_s=12.5))
    assert store.progress(race.id) == Progress(ending=None, blocks=1, slices=1, spent_s=12.5)
    store.end(race.id, Ending.BUDGET, 60.0)
    assert store.progress(race.id).ending is Ending.BUDGET
    with pytest.raises(StoreError, match="no race has the id"):
        store.progress(IDS[1])


def test_without_checkpoints_a_block_is_over_when_the_next_one_starts(store, writer):
    race = writer.make_race(IDS[0])
    store.begin(race)
    for block in range(3):
        store.add_launch(race.id, replace(writer.make_launch(ids.generate()), block=block))
        assert store.progress(race.id).blocks == block


def test_a_race_is_listed_with_its_name_and_stacks(store, writer):
    race = writer.make_race(IDS[0])
    store.begin(race)
    assert store.name_of(race.id) == ""
    store.name(race.id, "before-upgrade-2024")
    assert store.name_of(race.id) == "before-upgrade-2024"
    (listed,) = store.list(None)
    assert (listed.name, listed.stacks, listed.parts) == ("before-upgrade-2024", race.stacks, ())
