"""A quantile of all launches' answers, on two sides."""

import math
from itertools import pairwise

import numpy as np
import pytest

from stackrace.features.regression.tails import least_answers, tails
from stackrace.race.judge.looks import watched
from stackrace.race.results.comparison import Response, State, Terms

GRID = np.geomspace(1e-4, 10.0, 3000)
USUAL_S = 0.01
WAIT_S = 0.05
TERMS = Terms(allowance=0.05, limit=0.2)


def launch(dice, answers, *, slow=0.0, longer=1.0, spread=0.05):
    """The buckets of one launch: answers around 10 ms, a share ``slow`` of which waits for 50 ms more."""
    times = USUAL_S * longer * math.exp(dice.normal(0, spread)) * dice.gamma(25, 1 / 25, answers)
    times += WAIT_S * (dice.random(answers) < slow)
    counts = np.bincount(np.searchsorted(GRID, times), minlength=len(GRID))
    return [(GRID[at], int(counts[at])) for at in np.flatnonzero(counts)]


def sides(seed, launches, answers, **head):
    dice = np.random.default_rng(seed)
    made = [(launch(dice, answers), launch(dice, answers, **head)) for _ in range(launches)]
    return [base for base, _ in made], [each for _, each in made]


def judged(seed, launches, answers, *, ended=True, **head):
    sample = tails(*sides(seed, launches, answers, **head), Response.P99)
    return watched(sample, TERMS, family=6, ended=ended)


def test_launches_with_few_answers_wait_until_they_are_a_batch():
    sample = tails(*sides(1, 10, 120), Response.P99)
    assert (least_answers(0.99), len(sample), sample.ends) == (300, 3, (3, 6, 9))
    assert (sample.pairs(0), sample.pairs(2), sample.answers) == (0, 6, 1200)
    assert sample.pairs_for(2) == math.ceil(2 * 300 / 120)
    assert len(tails(*sides(1, 10, 300), Response.P99)) == 10
    assert len(tails(*sides(1, 2, 120), Response.P99)) == 0
    assert tails([], [], Response.P99).pairs_for(3) is None


def test_the_estimate_is_of_all_answers_together_and_the_figures_are_in_seconds():
    base, head = sides(2, 40, 300, slow=0.02)
    sample = tails(base, head, Response.P99)
    look, seconds = sample.look(0, 40), sample.sides(0, 40)
    assert seconds[0] == pytest.approx(0.015, rel=0.1)
    assert seconds[1] > WAIT_S
    assert look.value == pytest.approx(math.log(seconds[1] / seconds[0]))
    assert look.low(0.01, 0.05) < look.value < look.high(0.01, 0.05)


@pytest.mark.parametrize("answers", [40, 100, 600])
def test_two_of_a_hundred_requests_that_wait_are_found(answers):
    """No launch of 40 answers has a p99 of its own."""
    assert judged(3, 160, answers, slow=0.02).state is State.SLOWER


@pytest.mark.parametrize("answers", [40, 600])
def test_the_same_twice_is_clear(answers):
    found = judged(4, 160, answers)
    assert (found.state, found.alarm) == (State.CLEAR, None)


def test_few_answers_are_never_clear_however_alike_they_are():
    found = judged(5, 3, 300)
    assert found.state is State.OPEN
    assert found.figures.high > math.log(1.2)


def test_what_one_launch_in_five_has_alone_is_not_trimmed_away():
    dice = np.random.default_rng(6)
    base = [launch(dice, 600) for _ in range(30)]
    head = [launch(dice, 600, slow=0.2 * (number % 5 == 4)) for number in range(30)]
    assert watched(tails(base, head, Response.P99), TERMS, family=6, ended=True).state is not State.CLEAR


def test_more_data_narrows_both_limits():
    look = tails(*sides(7, 12, 300), Response.P99).look(0, 12)
    highs = [look.high(0.01, 0.05, times) for times in (1.0, 2.0, 8.0)]
    lows = [look.low(0.01, 0.05, times) for times in (1.0, 2.0, 8.0)]
    assert all(later <= before for before, later in pairwise(highs)) and highs[-1] < highs[0]
    assert all(later >= before for before, later in pairwise(lows)) and lows[-1] > lows[0]


@pytest.mark.exhaustive
def test_equal_sides_are_rarely_slower_and_those_at_the_limit_rarely_clear():
    same = [judged(100 + seed, 40, 150, ended=True) for seed in range(100)]
    assert sum(each.state is State.SLOWER for each in same) == 0
    at_limit = [judged(200 + seed, 40, 150, ended=True, longer=1.2) for seed in range(100)]
    assert sum(each.state is State.CLEAR for each in at_limit) <= 8
