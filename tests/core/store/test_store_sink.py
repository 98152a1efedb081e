"""The sink writes down what a race tells, and ignores what is no result."""

from __future__ import annotations

from dataclasses import replace

from stackrace.base import ids
from stackrace.measure.launch import StackFacts
from stackrace.race.events import (
    Activity,
    BlockEnded,
    BlockStarted,
    LaunchEnded,
    LaunchStarted,
    Progress,
    RaceEnded,
    RaceStarted,
    SliceEnded,
    StackDescribed,
    TwinChosen,
)
from stackrace.race.results.race import Ending
from stackrace.race.run.stopwatch import Duty
from stackrace.store.recorder import StoreSink


def test_a_race_told_to_the_sink_is_in_the_store(store, writer):
    race, launch = writer.make_race(ids.generate()), writer.make_launch(ids.generate())
    facts = StackFacts(stack=launch.stack, versions={"gunicorn": "23.0"}, commands=("gunicorn demo",))
    whole = replace(launch, slices=(writer.make_slice(0),), ready_s=0.5, warmup_s=2.5)
    duty = Duty(slices_s=5.0, other_s=7.5)
    sink = StoreSink(store)
    for event in (
        RaceStarted(race),
        BlockStarted(0, race.stacks, None),
        Progress(Activity.LAUNCHING, launch.stack),
        LaunchStarted(launch),
        StackDescribed(facts),
        SliceEnded(launch.id, writer.make_slice(0)),
        LaunchEnded(whole),
        BlockEnded(0, race),
        RaceEnded(Ending.ANSWERED, 12.5, duty),
    ):
        sink(event)
    expected = replace(race, facts=(facts,), launches=(whole,), elapsed_s=12.5, ending=Ending.ANSWERED, duty=duty)
    assert store.load(race.id) == expected


def test_each_event_is_kept_the_moment_it_is_told(store, writer):
    race, launch = writer.make_race(ids.generate()), writer.make_launch(ids.generate())
    sink = StoreSink(store)
    sink(RaceStarted(race))
    assert store.load(race.id) == race
    sink(LaunchStarted(launch))
    assert store.load(race.id).launches == (launch,)
    sink(SliceEnded(launch.id, writer.make_slice(0)))
    assert store.load(race.id).launches == (replace(launch, slices=(writer.make_slice(0),)),)


def test_another_twin_is_kept_and_is_no_alteration(store, writer):
    race = replace(writer.make_race(ids.generate()), twin="first")
    sink = StoreSink(store)
    sink(RaceStarted(race))
    sink(TwinChosen("second"))
    sink(RaceEnded(Ending.ANSWERED, 12.5))
    assert store.load(race.id).twin == "second"
    assert store.alterations(race.id) == ()
