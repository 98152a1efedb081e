"""What an open question will still take."""

import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.factories import make_failure, make_load, make_quantiles, make_race, make_result

from stackrace.base import ids
from stackrace.measure.launch import FailureKind, Launch, Slice
from stackrace.race.judge.levels import JudgedLevel, measured_levels
from stackrace.race.judge.ranking import standing
from stackrace.race.judge.winner import answer_of
from stackrace.race.results.answer import AnswerKind
from stackrace.report.words.standing_sentences import words_of
from stackrace.stats.judge import judge


def raced(sd, *, blocks=4, passes=2, elapsed_s=60.0, stacks=("waitress", "cheroot", "granian"), **changes):
    """A race of stacks that are all alike; ``sd`` is that of a slice, in ln units."""
    dice = random.Random(5)
    load, launches, index = make_load(20), [], 0
    for block in range(blocks):
        slices = {stack: [] for stack in stacks}
        for _ in range(passes):
            for stack in stacks:
                result = make_result(1000 * math.exp(dice.gauss(0, sd)), load=load)
                slices[stack].append(Slice(index=index, load=load, result=result, usage=()))
                index += 1
        for stack, own in slices.items():
            launches.append(Launch(id=ids.generate(), block=block, stack=stack, slices=tuple(own), ready_s=0.5))
    race = make_race(stacks=list(stacks), levels=(20,), blocks=0)
    return replace(race, launches=tuple(launches), elapsed_s=elapsed_s, **changes)


def found(race):
    return standing(race, merge=lambda _: make_quantiles())


def test_the_time_that_an_answer_takes_is_said():
    race = raced(0.08)
    seen = found(race)
    assert not seen.settled
    assert seen.answer.blocks_needed > 4
    each_s = 60.0 / 12
    expected_s = each_s * (1 + len(seen.answer.rivals)) * (seen.answer.blocks_needed - 4)
    assert seen.answer.needed_s == pytest.approx(expected_s)
    said = re.search(r" more would decide \(--budget (\d+)min\)\.$", words_of(race, seen).answer)
    assert 60 * float(said[1]) == pytest.approx(race.budget_s + seen.answer.needed_s, abs=60)


def test_where_launches_vary_too_much_no_time_would_do():
    race = raced(0.9, blocks=20)
    seen = found(race)
    assert seen.answer.kind is AnswerKind.UNDECIDED
    assert seen.answer.blocks_needed is None
    assert seen.answer.most_blocks == 40
    assert "not even 40 launches of each would decide" in words_of(race, seen).answer


@pytest.mark.parametrize("silent", [{"elapsed_s": 0.0}, {"repeats": 4}], ids=lambda told: next(iter(told)))
def test_no_time_is_said_where_none_is_known(silent):
    assert found(raced(0.08, **silent)).answer.needed_s is None


def test_nothing_more_is_needed_where_the_question_is_answered():
    seen = found(raced(0.0001, blocks=10))
    assert seen.settled
    assert (seen.answer.rivals, seen.answer.blocks_needed, seen.answer.needed_s) == ((), None, None)


def test_a_block_that_was_cut_took_none_of_the_time():
    whole = raced(0.08)
    cut = tuple(
        replace(launch, id=ids.generate(), block=4, failure=make_failure(FailureKind.INTERRUPTED))
        for launch in whole.launches
        if launch.block == 3
    )
    assert found(replace(whole, launches=(*whole.launches, *cut))).answer == found(whole).answer


def test_of_several_stacks_one_that_is_left_alone_proves_nothing():
    race = raced(0.01)
    alone = replace(race, launches=tuple(one for one in race.launches if one.stack == "waitress"))
    assert found(alone).answer.kind is AnswerKind.ONLY
    assert not found(alone).settled
    asked = replace(alone, stacks=("waitress",))
    assert found(asked).answer.kind is AnswerKind.ALONE
    assert found(asked).settled


@pytest.mark.parametrize(
    ("behind", "kind"), [(0.049, AnswerKind.GOOD), (0.07, AnswerKind.CLOSE), (0.3, AnswerKind.UNDECIDED)]
)
def test_a_budget_that_ends_between_two_looks_may_still_answer(behind, kind):
    race = replace(raced(0.08), difference=0.05)
    (measured,) = measured_levels(race, pooled=True)
    judgement = judge(measured.values, race.difference)
    ahead = np.where(np.arange(3) == judgement.leader, 0.0, math.log1p(behind))
    judgement = replace(judgement, winner=None, tiers=(1, 1, 1), ahead=ahead)
    level = found(race).levels[0]
    answer = answer_of(JudgedLevel(race=race, measured=measured, judgement=judgement, level=level))
    assert answer.kind is kind
    assert answer.settled == (kind is AnswerKind.GOOD)
    assert answer.within == pytest.approx(behind)
