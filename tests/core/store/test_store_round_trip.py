"""What comes out of the store is what went in."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.measure.launch import Launch, StackFacts
from stackrace.race.results.race import Ending

UNHURRIED = settings(suppress_health_check=list(HealthCheck))


@pytest.mark.exhaustive
@UNHURRIED
@given(data=st.data())
def test_a_race_stored_whole_loads_equal(shared_store, races, data):
    race = data.draw(races)
    shared_store.begin(race)
    assert shared_store.load(race.id) == race


@UNHURRIED
@given(data=st.data())
def test_a_race_stored_step_by_step_loads_equal(shared_store, races, data):
    race = data.draw(races)
    shared_store.begin(replace(race, facts=(), launches=(), elapsed_s=0.0, ending=None))
    for facts in race.facts:
        shared_store.add_facts(race.id, facts)
    for launch in race.launches:
        shared_store.add_launch(race.id, Launch(id=launch.id, block=launch.block, stack=launch.stack))
        for one in launch.slices:
            shared_store.add_slice(launch.id, one)
        shared_store.end_launch(launch)
    expected = race
    if race.ending is None:
        expected = replace(race, elapsed_s=0.0)
    else:
        shared_store.end(race.id, race.ending, race.elapsed_s, race.duty)
    assert shared_store.load(race.id) == expected


def test_slices_of_interleaved_launches_return_to_their_own(store, writer):
    race_id, first, second = (ids.generate() for _ in range(3))
    store.begin(writer.make_race(race_id))
    store.add_launch(race_id, writer.make_launch(first))
    store.add_launch(race_id, writer.make_launch(second))
    for index in range(6):
        store.add_slice((first, second)[index % 2], writer.make_slice(index))
    launches = store.load(race_id).launches
    assert [launch.id for launch in launches] == [first, second]
    assert [[one.index for one in launch.slices] for launch in launches] == [[0, 2, 4], [1, 3, 5]]


def test_a_share_of_nothing_stays_nan(store, writer):
    race_id, launch_id = ids.generate(), ids.generate()
    store.begin(writer.make_race(race_id))
    store.add_launch(race_id, writer.make_launch(launch_id))
    one = writer.make_slice(0)
    latency = replace(one.result.latency, mean=math.nan)
    result = replace(one.result, fairness=math.nan, dead_time=-math.inf, latency=latency)
    store.add_slice(launch_id, replace(one, result=result))
    loaded = store.load(race_id).launches[0].slices[0].result
    assert math.isnan(loaded.fairness)
    assert math.isnan(loaded.latency.mean)
    assert loaded.dead_time == -math.inf


@pytest.mark.parametrize("what", ["race", "launch"])
def test_a_taken_id_is_refused_and_nothing_is_overwritten(store, writer, what):
    race_id, launch_id = ids.generate(), ids.generate()
    store.begin(writer.make_race(race_id))
    store.add_launch(race_id, writer.make_launch(launch_id))
    before = store.load(race_id)
    with pytest.raises(StoreError, match="already in use"):
        if what == "race":
            store.begin(replace(writer.make_race(race_id), app="other"))
        else:
            store.add_launch(race_id, replace(writer.make_launch(launch_id), stack="uwsgi"))
    assert store.load(race_id) == before


def test_a_race_that_cannot_be_stored_whole_is_not_stored_at_all(store, writer):
    twins = (writer.make_launch(ids.generate()),) * 2
    with pytest.raises(StoreError):
        store.begin(replace(writer.make_race(ids.generate()), launches=twins))
    assert store.latest() is None


def test_parts_of_nothing_are_refused(store, writer):
    nobody = ids.generate()
    with pytest.raises(StoreError):
        store.add_facts(nobody, StackFacts(stack="gunicorn"))
    with pytest.raises(StoreError):
        store.add_launch(nobody, writer.make_launch(ids.generate()))
    with pytest.raises(StoreError):
        store.add_slice(nobody, writer.make_slice(0))
    with pytest.raises(StoreError, match="add it first"):
        store.end_launch(writer.make_launch(nobody))
    with pytest.raises(StoreError, match="begin it first"):
        store.end(nobody, Ending.BUDGET, 1.0)
