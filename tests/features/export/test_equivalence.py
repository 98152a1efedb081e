"""Whether exported files do what the original does, by races with known rates."""

from dataclasses import replace

import pytest
from tests.core.race.raced import race_of

from stackrace.features.export.equivalence import UntilKnown, Verdict, equivalence_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack import Side, side_path
from stackrace.stacks.stack_path import parse_stack

STACK = parse_stack("gunicorn", catalogue().specs, frozenset(Interface))
ORIGINAL, EXPORTED = (side_path("gunicorn", side) for side in (Side.ORIGINAL, Side.EXPORTED))


def race(exported, **how):
    return race_of({ORIGINAL: 1000, EXPORTED: exported}, **how)


@pytest.mark.parametrize(
    ("exported", "verdict", "blocks"),
    [
        (1000, Verdict.EQUIVALENT, 13),
        (1010, Verdict.EQUIVALENT, 13),
        (800, Verdict.DIFFERENT, 6),
        (1300, Verdict.DIFFERENT, 6),
    ],
)
def test_clear_cases_are_decided(exported, verdict, blocks):
    answer = equivalence_of(race(exported, blocks=13, sd=0.01), STACK, 0.05)
    assert answer.verdict is verdict
    assert answer.ratio.low < exported / 1000 < answer.ratio.high
    assert answer.blocks == blocks, "equivalent by the last look, different by the one that confirmed it"


def test_a_difference_counts_once_fresh_blocks_confirm_it():
    slower, equal = race(900, blocks=6, sd=0.005), race(1000, blocks=40, sd=0.005)
    only_at_first = replace(
        equal, launches=slower.launches + tuple(launch for launch in equal.launches if launch.block >= 6)
    )
    assert equivalence_of(slower, STACK, 0.05).verdict is Verdict.OPEN
    assert equivalence_of(only_at_first, STACK, 0.05).verdict is not Verdict.DIFFERENT
    assert equivalence_of(race(900, blocks=13, sd=0.005), STACK, 0.05).verdict is Verdict.DIFFERENT


def test_a_difference_as_large_as_what_matters_is_not_called_equivalent():
    verdicts = [equivalence_of(race(952, blocks=40, sd=0.02, seed=seed), STACK, 0.05).verdict for seed in range(30)]
    assert verdicts.count(Verdict.EQUIVALENT) <= 1


def test_few_blocks_leave_it_open_and_say_what_they_could_have_seen():
    answer = equivalence_of(race(1000, blocks=3, sd=0.02), STACK, 0.05)
    assert answer.verdict is Verdict.OPEN
    assert answer.could_have_seen > 0.05


def test_more_blocks_decide_what_forty_leave_open():
    assert equivalence_of(race(1000, blocks=40, sd=0.06), STACK, 0.05).verdict is Verdict.OPEN
    assert equivalence_of(race(1000, blocks=160, sd=0.06), STACK, 0.05).verdict is Verdict.EQUIVALENT


def test_without_a_block_of_both_there_is_no_ratio():
    for nothing in (race(1000, blocks=0), race_of({ORIGINAL: 1000}, blocks=5)):
        answer = equivalence_of(nothing, STACK, 0.05)
        assert (answer.verdict, answer.ratio, answer.blocks) == (Verdict.OPEN, None, 0)


def test_what_comes_after_a_planned_look_waits_for_the_next():
    whole = race(1000, blocks=9, sd=0.02)
    eight = replace(whole, launches=tuple(launch for launch in whole.launches if launch.block < 8))
    assert equivalence_of(whole, STACK, 0.05) == equivalence_of(eight, STACK, 0.05)


def test_a_race_of_both_ends_once_it_is_known():
    assert not UntilKnown(STACK, 0.05).decide(race(1000, blocks=2, sd=0.001)).settled
    assert UntilKnown(STACK, 0.05).decide(race(1000, blocks=3, sd=0.001)).settled
    assert not UntilKnown(STACK, 0.05).decide(race(1000, blocks=4, sd=0.2)).settled
