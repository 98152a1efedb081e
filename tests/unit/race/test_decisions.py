"""What a race decides on the way: who is dropped, and whether it is settled."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from tests.factories import make_load

from stackrace.model.race import Question
from stackrace.race.standing import decisions, standing

from .raced import merged, race_of, race_with_workloads, slice_of


def test_nothing_is_decided_before_the_first_look():
    assert decisions(race_of({"a": 1000, "b": 100}, blocks=4)).dropped == frozenset()
    assert not decisions(race_of({"a": 1000, "b": 100}, blocks=4)).settled
    assert not decisions(race_of({"a": 1000}, blocks=0)).settled


def test_a_race_for_a_winner_drops_who_is_beaten():
    race = race_of({"a": 1000, "b": 1000, "c": 300}, blocks=5, sd=0.1)
    found = decisions(race)
    assert found.dropped == {"c"}
    assert not found.settled


def test_a_race_for_a_ranking_drops_whose_place_is_known():
    race = race_of({"a": 3000, "b": 1000, "c": 1000}, blocks=5, sd=0.05, question=Question.RANKING)
    found = decisions(race)
    assert found.dropped == {"a"}
    assert not found.settled


def test_between_two_looks_the_earlier_one_stands():
    race = race_of({"a": 1000, "b": 1000, "c": 870}, blocks=6, sd=0.04)
    early = replace(race, launches=tuple(launch for launch in race.launches if launch.block < 5))
    assert decisions(race) == decisions(early)


def test_who_was_dropped_stays_dropped():
    race = race_of({"a": 1000, "b": 1000, "c": 500}, blocks=20, sd=0.08, last={"c": 4})
    assert "c" in decisions(race).dropped
    assert standing(race, merge=merged).rows[-1].stack == "c"
    assert standing(race, merge=merged).rows[-1].tier == 2


def test_a_pair_with_a_lost_launch_waits_for_the_next_look():
    race = race_of({"a": 1000, "b": 100}, blocks=5)
    assert decisions(race).settled
    assert not decisions(replace(race, launches=race.launches[1:])).settled


def test_a_race_goes_on_until_every_level_is_answered():
    race = race_of({"a": 1000, "b": 500}, blocks=5, levels=(1, 20))
    dice = random.Random(4)
    noisy = tuple(
        replace(launch, slices=(slice_of(700 * math.exp(dice.gauss(0, 0.2)), load=make_load(1)), launch.slices[1]))
        for launch in race.launches
    )
    race = replace(race, launches=noisy)
    assert standing(race, merge=merged).settled
    assert decisions(race).dropped == frozenset()
    assert not decisions(race).settled


def test_a_stack_that_is_beaten_on_one_workload_only_goes_on():
    race = race_with_workloads({"static": {"a": 5000, "b": 1000}, "page": {"a": 500, "b": 500}}, blocks=5)
    assert "b" not in decisions(race).dropped


def test_neither_exhaustive_races_nor_runs_are_ended_by_an_answer():
    clear = race_of({"a": 1000, "b": 3000})
    assert decisions(clear).settled
    for race in (replace(clear, exhaustive=True), replace(clear, repeats=10)):
        assert not decisions(race).settled
        assert decisions(race).dropped == frozenset()
