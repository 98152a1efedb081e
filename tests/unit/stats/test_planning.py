"""Planning: how many blocks a question will need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stackrace.stats.looks import LOOKS, look

from stackrace.model.race import Question
from stackrace.stats.pairs import trimmed
from stackrace.stats.planning import YUEN, blocks_needed, expected_half_width


@pytest.mark.parametrize("n", LOOKS)
def test_the_price_of_trimming_is_that_of_normal_differences(n):
    variances = trimmed(np.random.default_rng(n).normal(size=(20_000, n)))[1]
    assert variances.mean() == pytest.approx(YUEN[n], abs=0.03)


@pytest.mark.parametrize("stacks", [3, 12])
@pytest.mark.parametrize("blocks", [7, 20])
def test_the_widths_are_those_of_simulated_races(stacks, blocks):
    rng = np.random.default_rng(stacks + blocks)
    one, every = [], []
    for _ in range(60):
        family = look(rng.normal(0, 0.05, (stacks, blocks)))
        leader = np.argmax(family.estimate.min(axis=1))
        one.append(family.half_width[leader].max())
        every.append(family.half_width.max())
    assert np.median(one) == pytest.approx(expected_half_width(stacks, 0.05, blocks, Question.WINNER), rel=0.15)
    assert np.median(every) == pytest.approx(expected_half_width(stacks, 0.05, blocks, Question.RANKING), rel=0.15)


@given(st.integers(2, 20), st.floats(0, 0.5), st.floats(0.001, 1), st.sampled_from(Question))
def test_the_answer_is_the_first_look_that_is_narrow_enough(stacks, sd, difference, question):
    needed = blocks_needed(stacks, sd, difference, question)
    widths = [expected_half_width(stacks, sd, n, question) for n in LOOKS]
    narrow = [n for n, width in zip(LOOKS, widths, strict=True) if width <= np.log1p(difference)]
    assert needed == (narrow[0] if narrow else None)


@given(st.integers(2, 20), st.floats(0.01, 0.2), st.floats(0.01, 0.2))
def test_a_ranking_never_needs_fewer_blocks_than_a_winner(stacks, sd, difference):
    winner = blocks_needed(stacks, sd, difference, Question.WINNER)
    ranking = blocks_needed(stacks, sd, difference, Question.RANKING)
    assert (winner or 99) <= (ranking or 99)


def test_noise_that_forty_blocks_do_not_beat_is_said_so():
    assert blocks_needed(5, 0.5, 0.05, Question.WINNER) is None
    assert blocks_needed(5, 0.0, 0.05, Question.WINNER) == LOOKS[0]


@pytest.mark.parametrize(
    ("stacks", "sd", "difference"), [(1, 0.1, 0.05), (2, -1, 0.05), (2, float("nan"), 0.05), (2, 0.1, 0)]
)
def test_what_cannot_be_planned_is_refused(stacks, sd, difference):
    with pytest.raises(ValueError, match="no plan for"):
        blocks_needed(stacks, sd, difference, Question.WINNER)
