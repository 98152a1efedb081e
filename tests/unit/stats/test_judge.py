"""Judging one level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stackrace.stats.judge import judge


def field(*effects, n=10, sd=0.02, seed=15):
    rng = np.random.default_rng(seed)
    return np.array(effects)[:, None] + rng.normal(0, sd, (len(effects), n)) + rng.normal(0, 0.2, n)


def test_a_clear_winner_leads_and_stands_in_the_first_tier():
    judged = judge(field(7.0, 7.3, 6.6), 0.05)
    assert judged.leader == 1
    assert judged.winners == (1,)
    assert judged.tiers == (2, 1, 3)
    assert judged.ranks == ((2, 2), (1, 1), (3, 3))
    assert judged.beaten == (True, False, True)
    assert judged.settled == (True, True, True)


def test_the_margin_has_limits_around_the_truth():
    ratio = judge(field(7.0, 7.3), 0.05).ratio(1, 0)
    assert ratio.low < math.exp(0.3) < ratio.high
    assert judge(field(7.0, 7.3), 0.05).ratio(0, 1).value == pytest.approx(1 / ratio.value)


def test_identical_stacks_tie_once_enough_is_known():
    values = field(7.0, 7.0, n=40)
    judged = judge(values, 0.05)
    assert judged.tied[0, 1]
    assert judged.tiers == (1, 1)
    assert judged.apart(0, 1) < 0.05
    assert judged.resolution == pytest.approx(math.expm1(judged.family.half_width[0, 1]))


def test_one_block_decides_nothing():
    judged = judge(field(7.0, 9.0, n=1), 0.05)
    assert judged.winners == ()
    assert judged.tiers == (1, 1)
    assert judged.leader == 1
    assert judged.resolution is None
    assert judged.ratio(1, 0).low is None


def test_pairs_with_too_few_blocks_decide_nothing():
    values = field(7.0, 9.0, n=4)
    assert judge(values, 0.05).beaten == (True, False)
    assert judge(values, 0.05, least=5).beaten == (False, False)


def test_stacks_that_never_met_have_no_ratio():
    gap = math.nan
    judged = judge([[7.0, 7.1, gap, gap], [gap, gap, 8.0, 8.1]], 0.05)
    assert math.isnan(judged.ratio(0, 1).value)
    assert judged.winners == ()


def test_one_stack_alone_leads_itself():
    judged = judge(field(7.0), 0.05)
    assert (judged.leader, judged.tiers, judged.winners, judged.resolution) == (0, (1,), (0,), None)
    assert judged.ratio(0, 0).value == judged.ratio(0, 0).high == 1
