"""How equal the machines of a race were."""

from dataclasses import replace

import pytest
from tests.factories import make_finding, make_race, make_standing

from stackrace.base.numbers import Interval
from stackrace.base.verdict import Effect, Verdict
from stackrace.report.words.standing_sentences import machines, words_of
from stackrace.stats.values import MachineComparison, MachineVerdict, RatioShift


def compared(ratio=None, speed=MachineVerdict.UNKNOWN, shift=None, ratios=MachineVerdict.UNKNOWN):
    return MachineComparison(
        machine="host-2", against="host-1", ratio=ratio, speed=speed, ratios=ratios,
        shift=None if shift is None else RatioShift(first="a", second="b", shift=shift),
    )  # fmt: skip


SLOWER = Interval(value=0.93, low=0.91, high=0.95)
ODD = Interval(value=1.12, low=1.05, high=1.2)
DELIVERED = "the same stacks delivered"
LEFT_OUT = compared(SLOWER, MachineVerdict.UNEQUAL, ODD, MachineVerdict.UNEQUAL)


def test_one_machine_alone_is_not_worth_a_word():
    assert machines(()) == ""
    assert machines((compared(),)) == ""


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (compared(Interval(value=1.0, low=0.98, high=1.02), MachineVerdict.EQUAL),
         f"host-2 is as fast as host-1: {DELIVERED} 1.00× (0.98–1.02) the throughput."),
        (compared(Interval(value=0.9)),
         f"Whether host-2 is as fast as host-1 cannot be told yet: {DELIVERED} 0.90× the throughput."),
        (compared(shift=ODD, ratios=MachineVerdict.EQUAL),
         "The ratios of the stacks are equal on host-2 and host-1."),
    ],
)  # fmt: skip
def test_each_verdict_has_its_sentence(one, text):
    assert machines((one,)) == text


def test_a_void_race_says_nothing_of_it():
    race = make_race(3)
    verdict = Verdict((make_finding("twins differ", Effect.INVALIDATES),))
    void = replace(make_standing(race), machines=(LEFT_OUT,), verdict=verdict)
    assert words_of(race, void).machines == ""
