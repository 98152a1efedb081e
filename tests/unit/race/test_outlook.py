"""What the pilot says about the time that a question takes."""

import math
import random
import re
from dataclasses import replace

import pytest
from tests.factories import make_failure, make_load, make_quantiles, make_race, make_result

from stackrace.model import ids
from stackrace.model.launch import FailureKind, Launch, Slice
from stackrace.model.race import Ending
from stackrace.race.outlook import outlook
from stackrace.race.standing import standing


def raced(sd, *, blocks=4, passes=2, elapsed_s=60.0, budget_s=60.0, stacks=("waitress", "cheroot"), **changes):
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
    return replace(race, launches=tuple(launches), elapsed_s=elapsed_s, budget_s=budget_s, **changes)


def said(race):
    return outlook(race, standing(race, merge=lambda _: make_quantiles()))


def test_the_time_is_said_that_would_tell_the_difference_that_matters():
    sentence = said(raced(0.08))
    words = re.fullmatch(
        r"About (\d+) min would be needed to tell 5 % \(pilot: sd (\S+) % per launch\)\.", sentence
    )
    assert words, sentence
    assert int(words[1]) > 1
    assert 2 < float(words[2]) < 15


def test_where_launches_vary_too_much_no_time_would_do():
    assert "Not even 40 launches of each would tell 5 %" in said(raced(0.6))


@pytest.mark.parametrize(
    "silent",
    [
        {"budget_s": 36_000.0},
        {"blocks": 2},
        {"elapsed_s": 0.0},
        {"budget_s": 0.0},
        {"repeats": 4},
        {"stacks": ("waitress",)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_nothing_is_said_where_nothing_is_known_or_the_budget_will_do(silent):
    assert said(raced(0.08, ending=Ending.BUDGET, **silent)) == ""


def test_nothing_is_said_of_a_question_that_is_answered():
    assert said(raced(0.0001, blocks=10)) == ""


def test_a_block_that_was_cut_took_none_of_the_time():
    whole = raced(0.08)
    cut = tuple(
        replace(launch, id=ids.generate(), block=4, failure=make_failure(FailureKind.INTERRUPTED))
        for launch in whole.launches
        if launch.block == 3
    )
    assert said(replace(whole, launches=(*whole.launches, *cut))) == said(whole)
