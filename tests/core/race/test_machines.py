"""Several machines in one race: how they compare, and whose blocks count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.core.race.raced import merged, race_of
from tests.factories import make_race

from stackrace.race.judge.decisions import decisions
from stackrace.race.judge.levels import compared, pooled
from stackrace.race.judge.ranking import standing
from stackrace.race.results.answer import AnswerKind
from stackrace.stats.values import MachineVerdict

RATES = {"a": 1300.0, "b": 1000.0, "c": 600.0}


def on(rates_by_machine, *, blocks=6, sd=0.01):
    """A race of ``blocks`` blocks on each machine, in turn."""
    many = len(rates_by_machine)
    launches = []
    for at, (machine, rates) in enumerate(rates_by_machine.items()):
        own = race_of(rates, blocks=blocks, sd=sd, seed=at)
        for launch in own.launches:
            number = launch.block * many + at
            launches.append(replace(launch, id=f"{machine}{launch.id}"[:13], block=number, machine=machine))
    launches.sort(key=lambda launch: launch.block)
    return replace(race_of(rates, blocks=0), launches=tuple(launches))


def scaled(factor, **changes):
    return {stack: rate * factor for stack, rate in {**RATES, **changes}.items()}


EQUAL = on({"one": RATES, "two": RATES})
UNLIKE = on({"one": RATES, "two": {**RATES, "a": 900.0}})


def test_a_machine_alone_is_compared_with_nothing():
    for raced in (race_of(RATES), on({"one": RATES}), make_race(blocks=0)):
        assert compared(raced) == ()
        assert pooled(raced, ()) is raced


def test_a_slower_machine_is_named_and_its_blocks_count():
    (found,) = compared(on({"one": RATES, "two": scaled(0.5)}))
    assert (found.machine, found.against, found.speed) == ("two", "one", MachineVerdict.UNEQUAL)
    assert 0.4 < found.ratio.value < 0.6
    assert found.ratios is not MachineVerdict.UNEQUAL


def test_the_blocks_of_equal_machines_are_judged_together():
    assert pooled(EQUAL, compared(EQUAL)) is EQUAL
    found = standing(EQUAL, merge=merged)
    assert found.answer.kind is AnswerKind.BEST
    assert found.rows[0].launches == 12
    assert [one.machine for one in found.machines] == ["two"]


def test_a_machine_with_other_ratios_is_left_out():
    (found,) = compared(UNLIKE)
    assert found.ratios is MachineVerdict.UNEQUAL
    assert "a" in (found.shift.first, found.shift.second)
    assert {launch.machine for launch in pooled(UNLIKE, (found,)).launches} == {"one"}
    said = standing(UNLIKE, merge=merged)
    assert said.machines == (found,)
    assert said.answer == standing(on({"one": RATES}), merge=merged).answer
    assert {row.launches for row in said.rows} == {6}


def test_decisions_leave_it_out_too():
    assert decisions(UNLIKE) == decisions(on({"one": RATES}))
    assert decisions(UNLIKE).settled


def test_all_others_are_compared_with_the_machine_that_measured_most():
    raced = on({"one": RATES, "two": RATES, "three": RATES})
    fewer = replace(raced, launches=tuple(
        launch for launch in raced.launches if launch.machine != "one" or launch.block < 9
    ))  # fmt: skip
    assert [(one.machine, one.against) for one in compared(fewer)] == [("three", "two"), ("one", "two")]


def test_stacks_that_left_do_not_blur_the_comparison_of_speeds():
    left = replace(EQUAL, launches=tuple(
        launch for launch in EQUAL.launches if launch.stack != "c" or launch.block < 4
    ))  # fmt: skip
    (whole,), (found,) = compared(EQUAL), compared(left)
    assert found.ratio.value == pytest.approx(whole.ratio.value, rel=0.02)
