"""What a race decides on the way: who is dropped, and whether it is settled."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from tests.factories import make_load

from stackrace.race.judge.decisions import decisions
from stackrace.race.judge.ranking import standing
from stackrace.stats.values import Question

from .raced import merged, race_of, race_with_workloads, slice_of

RANKING = {"question": Question.RANKING}
DECIDED = {
    "one block decides nothing": ({"a": 1000, "b": 100}, {"blocks": 1}, set(), False),
    "nor does none": ({"a": 1000}, {"blocks": 0}, set(), False),
    "two blocks drop who is far behind": ({"a": 1000, "b": 990, "c": 300, "d": 1000}, {"blocks": 2}, {"c"}, False),
    "two blocks name a winner if nobody else is left": (
        {"a": 3000, "b": 990, "c": 300, "d": 1000}, {"blocks": 2}, {"b", "c", "d"}, True),
    "later who cannot be much better leaves": (
        {"a": 1000, "b": 1000, "c": 300}, {"blocks": 5, "sd": 0.1}, {"c"}, False),
    "a ranking drops nobody": (
        {"a": 3000, "b": 1000, "c": 1000}, {"blocks": 5, "sd": 0.05, **RANKING}, set(), False),
    "and ends when every place is settled": (
        {"a": 3000, "b": 1000, "c": 2000}, {"blocks": 5, **RANKING}, set(), True),
    "nothing ends a race that is exhaustive": ({"a": 1000, "b": 3000}, {"exhaustive": True}, set(), False),
    "nor one of runs": ({"a": 1000, "b": 3000}, {"repeats": 10}, set(), False),
}  # fmt: skip


@pytest.mark.parametrize("case", DECIDED)
def test_who_is_dropped_and_whether_it_is_over(case):
    rates, asked, dropped, settled = DECIDED[case]
    found = decisions(race_of(rates, **asked))
    assert (found.dropped, found.settled) == (dropped, settled)


def test_between_two_looks_the_earlier_one_stands():
    race = race_of({"a": 1000, "b": 1000, "c": 870}, blocks=11, sd=0.08)
    early = replace(race, launches=tuple(launch for launch in race.launches if launch.block < 10))
    assert decisions(race) == decisions(early)


def test_who_was_dropped_stays_dropped():
    race = race_of({"a": 1000, "b": 1000, "c": 500}, blocks=20, sd=0.08, last={"c": 4})
    assert "c" in decisions(race).dropped
    assert standing(race, merge=merged).rows[-1].stack == "c"
    assert standing(race, merge=merged).rows[-1].tier == 2


def test_a_stack_with_a_lost_launch_is_known_by_the_others_noise():
    race = race_of({"a": 1000, "b": 100, "c": 1000}, blocks=3, sd=0.02)
    lost = replace(race, launches=tuple(one for one in race.launches if (one.block, one.stack) != (0, "b")))
    assert "b" in decisions(lost).dropped
    twice = replace(lost, launches=tuple(one for one in lost.launches if (one.block, one.stack) != (1, "b")))
    assert decisions(twice).dropped == frozenset()


def clear_at_the_headline_only(**told):
    """A race whose first level is noise."""
    race = race_of({"a": 1000, "b": 500}, blocks=5, levels=(1, 20), **told)
    dice = random.Random(4)
    noisy = tuple(
        replace(launch, slices=(slice_of(700 * math.exp(dice.gauss(0, 0.2)), load=make_load(1)), launch.slices[1]))
        for launch in race.launches
    )
    return replace(race, launches=noisy)


def test_the_headline_alone_decides():
    race = clear_at_the_headline_only()
    assert standing(race, merge=merged).settled
    assert decisions(race).settled


def test_a_stack_that_meets_another_workload_only_is_not_dropped():
    rates = {"page": {"a": 5000, "b": 1000}, "static": {"a": 500, "b": 500, "c": 500}}
    assert "c" not in decisions(race_with_workloads(rates, blocks=5)).dropped


@pytest.mark.parametrize(("sd", "settled"), [(0.003, True), (0.3, False)])
def test_a_stack_alone_is_done_when_its_throughput_is_known(sd, settled):
    assert decisions(alone(sd)).settled is settled


def alone(sd):
    """A race of one stack, whose throughput varies by ``sd`` from launch to launch."""
    dice = random.Random(1)
    race = race_of({"a": 1000}, blocks=6)
    rates = (1000 * math.exp(dice.gauss(0, sd)) for _ in race.launches)
    launches = zip(race.launches, rates, strict=True)
    return replace(race, launches=tuple(replace(one, slices=(slice_of(rate),)) for one, rate in launches))
