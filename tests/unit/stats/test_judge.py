"""Judging one level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackrace.model.race import Question, Rule
from stackrace.stats.judge import judge

RULES = pytest.mark.parametrize("rule", Rule)


def field(*effects, n=10, sd=0.02, seed=15):
    rng = np.random.default_rng(seed)
    return np.array(effects)[:, None] + rng.normal(0, sd, (len(effects), n)) + rng.normal(0, 0.2, n)


@pytest.mark.parametrize("asked", [{"rule": Rule.ALL_PAIRS}, {"question": Question.RANKING}, {"drops": False}])
def test_a_clear_winner_leads_and_stands_in_the_first_tier(asked):
    judged = judge(field(7.0, 7.3, 6.6), 0.05, **asked)
    assert judged.leader == 1
    assert judged.winners == (1,)
    assert judged.tiers == (2, 1, 3)
    assert judged.ranks == ((2, 2), (1, 1), (3, 3))
    assert judged.beaten == (True, False, True)
    assert judged.settled == (True, True, True)


@RULES
def test_the_margin_has_limits_around_the_truth(rule):
    ratio = judge(field(7.0, 7.3), 0.05, rule=rule).ratio(1, 0)
    assert ratio.low < math.exp(0.3) < ratio.high
    assert judge(field(7.0, 7.3), 0.05, rule=rule).ratio(0, 1).value == pytest.approx(1 / ratio.value)


@pytest.mark.parametrize("asked", [{"rule": Rule.ALL_PAIRS}, {"question": Question.RANKING}])
def test_identical_stacks_tie_once_enough_is_known(asked):
    values = field(7.0, 7.0, n=40)
    judged = judge(values, 0.05, **asked)
    assert judged.tied[0, 1]
    assert judged.tiers == (1, 1)
    assert judged.apart(0, 1) < 0.05
    assert judged.resolution == pytest.approx(math.expm1(judged.each.half_width[0, 1]))


@RULES
def test_one_block_decides_nothing(rule):
    judged = judge(field(7.0, 9.0, n=1), 0.05, rule=rule)
    assert judged.winners == ()
    assert judged.tiers == (1, 1)
    assert judged.leader == 1
    assert judged.resolution is None
    assert judged.ratio(1, 0).low is None


def test_by_all_pairs_those_with_too_few_blocks_decide_nothing():
    values = field(7.0, 9.0, n=4)
    assert judge(values, 0.05, rule=Rule.ALL_PAIRS).beaten == (True, False)
    assert judge(values, 0.05, rule=Rule.ALL_PAIRS, least=5).beaten == (False, False)


@RULES
def test_stacks_that_never_met_have_no_ratio(rule):
    gap = math.nan
    judged = judge([[7.0, 7.1, gap, gap], [gap, gap, 8.0, 8.1]], 0.05, rule=rule)
    assert math.isnan(judged.ratio(0, 1).value)
    assert judged.winners == ()


@RULES
def test_one_stack_alone_leads_itself(rule):
    judged = judge(field(7.0), 0.05, rule=rule)
    assert (judged.leader, judged.tiers, judged.winners, judged.resolution) == (0, (1,), (0,), None)
    assert judged.ratio(0, 0).value == judged.ratio(0, 0).high == 1


def test_a_stack_far_ahead_is_named_after_two_blocks_and_surely_the_best():
    judged = judge(field(7.0, 7.9, 6.6, n=2), 0.05)
    assert (judged.leader, judged.winners, judged.left, judged.surely) == (1, (1,), (1,), True)
    assert judged.tiers == (2, 1, 3)
    assert judged.behind == 0


def test_of_stacks_that_differ_by_nothing_that_matters_the_winner_is_not_surely_the_best():
    judged = judge(field(7.0, 7.001, 6.5, n=20), 0.05)
    assert judged.winners == (judged.leader,)
    assert judged.leader in (0, 1)
    assert not judged.surely


def test_an_open_race_says_how_far_behind_its_leader_may_be_and_how_many_blocks_are_missing():
    judged = judge(field(7.0, 7.0, 7.0, n=4, sd=0.05), 0.05)
    assert judged.winners == ()
    assert judged.left == (0, 1, 2)
    assert 0.05 < judged.behind < 0.5
    assert judged.blocks_needed > 4


def test_the_limits_of_one_ratio_are_narrower_than_those_of_all_pairs_together():
    judged = judge(field(7.0, 7.1, 7.2, n=6, sd=0.05), 0.05)
    assert (judged.each.half_width < judged.family.half_width)[0, 1]
    assert math.log(judged.ratio(0, 1).high / judged.ratio(0, 1).low) == pytest.approx(
        2 * judged.each.half_width[0, 1]
    )


def test_a_ranking_keeps_everybody_in():
    assert judge(field(7.0, 7.3, 6.6), 0.05, question=Question.RANKING).left == (0, 1, 2)
    assert judge(field(7.0, 7.3, 6.6), 0.05).left == (1,)
