"""Planning: how many blocks a question will need."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.judge import _LEAD, _blocks_to_answer, blocks_expected
from stackrace.stats.selection import LOOKS, WINNER_FROM, looks, selected
from stackrace.stats.values import Question

DELTA = math.log(1.05)


def raced(effects, blocks, sd=0.05, seed=1):
    rng = np.random.default_rng(seed)
    return np.array(effects)[:, None] + rng.normal(0, sd, (len(effects), blocks))


def ended(values):
    """Return the number of blocks after which the winner is named, 99 for never."""
    return next((seen.blocks for seen in looks(values, DELTA) if seen.winner >= 0), 99)


@pytest.mark.parametrize(("stacks", "sd"), [(2, 0.03), (3, 0.05), (5, 0.05), (10, 0.05)])
def test_about_half_of_the_races_of_stacks_a_usual_lead_apart_are_over_when_expected(stacks, sd):
    expected = blocks_expected(stacks, sd)
    effects = -math.log1p(_LEAD) * np.arange(stacks)
    over = [ended(raced(effects, LOOKS[-1], sd, seed)) <= expected for seed in range(60)]
    assert 0.3 <= np.mean(over) <= 0.8


def test_a_usual_race_takes_fewer_blocks_than_a_noisy_or_a_large_one():
    assert blocks_expected(3) <= blocks_expected(10) < blocks_expected(10, 0.1)


@given(st.integers(2, 20), st.floats(0, 0.5), st.floats(0.0, 1), st.floats(0.001, 1))
def test_what_is_expected_is_a_planned_look_and_never_sooner_with_more_noise(stacks, sd, difference, lead):
    needed = blocks_expected(stacks, sd, difference, lead)
    assert needed is None or (needed in LOOKS and needed >= WINNER_FROM)
    assert (needed or 99) <= (blocks_expected(stacks, 1.2 * sd, difference, lead) or 99)
    assert (needed or 99) >= (blocks_expected(stacks, sd, difference, 1.2 * lead) or 99)


def test_noise_that_forty_blocks_do_not_beat_is_said_so():
    assert blocks_expected(5, 0.5) is None
    assert blocks_expected(5, 0.0) == WINNER_FROM


@pytest.mark.parametrize(
    ("stacks", "sd", "difference", "lead"),
    [(1, 0.1, 0.05, 0.1), (2, -1, 0.05, 0.1), (2, math.nan, 0.05, 0.1), (2, 0.1, -0.1, 0.1), (2, 0.1, 0.05, -1)],
)
def test_what_cannot_be_planned_is_refused(stacks, sd, difference, lead):
    with pytest.raises(ValueError, match="no plan for"):
        blocks_expected(stacks, sd, difference, lead)


@pytest.mark.parametrize("question", Question)
def test_an_open_race_is_told_a_later_look(question):
    found = selected(raced([0.0, 0.03, 0.0], 4), DELTA, drops=question is Question.WINNER)
    needed = _blocks_to_answer(found, DELTA, question)
    assert needed in LOOKS
    assert needed > 4


@pytest.mark.exhaustive
def test_about_half_of_the_open_races_have_their_answer_when_told():
    """Some 60 races see a forecast that is right in fewer than two of ten, or in nine."""
    within = []
    for seed in range(150):
        values = raced([0.07, 0.0, 0.0, 0.0, 0.0], LOOKS[-1], seed=seed)
        found = selected(values[:, :4], DELTA)
        told = _blocks_to_answer(found, DELTA, Question.WINNER)
        if found.winner < 0 and told is not None:
            within.append(ended(values) <= told)
    assert len(within) > 50
    assert 0.3 <= np.mean(within) <= 0.8


def test_a_ranking_never_needs_fewer_blocks_than_a_winner():
    for seed in range(40):
        found = selected(raced([0.1, 0.05, 0.0], 4, seed=seed), DELTA, drops=False)
        winner, ranking = (_blocks_to_answer(found, DELTA, question) for question in Question)
        assert (winner or 99) <= (ranking or 99)


@pytest.mark.parametrize("question", Question)
def test_nothing_is_told_without_two_blocks_two_stacks_or_where_forty_blocks_are_too_few(question):
    for values in (raced([0.0, 0.0], 1), raced([0.0], 4), raced([0.0, 0.0], 4, sd=5.0)):
        assert _blocks_to_answer(selected(values, DELTA, drops=False), DELTA, question) is None


def test_nothing_is_told_of_stacks_that_never_met():
    gap = math.nan
    found = selected([[1.0, 1.1, gap, gap], [gap, gap, 1.0, 1.2]], DELTA)
    assert _blocks_to_answer(found, DELTA, Question.WINNER) is None
