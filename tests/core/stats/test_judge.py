"""Judging one level: who leads, tiers, places, and nothing more than the pairs allow to say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.judge import _rank_sets, _settled_stacks, beats, best, foremost, judge, tiers, ties
from stackrace.stats.values import Question


def field(*effects, n=10, sd=0.02, seed=15):
    rng = np.random.default_rng(seed)
    return np.array(effects)[:, None] + rng.normal(0, sd, (len(effects), n)) + rng.normal(0, 0.2, n)


@pytest.mark.parametrize("asked", [{}, {"question": Question.RANKING}, {"drops": False}])
def test_a_clear_winner_leads_and_stands_in_the_first_tier(asked):
    judged = judge(field(7.0, 7.5, 6.4), 0.05, **asked)
    assert judged.leader == 1
    assert judged.winner == 1
    assert judged.tiers == (2, 1, 3)
    assert judged.ranks == ((2, 2), (1, 1), (3, 3))
    assert judged.settled == (True, True, True)


def test_the_margin_has_limits_around_the_truth():
    ratio = judge(field(7.0, 7.3), 0.05).ratio(1, 0)
    assert ratio.low < math.exp(0.3) < ratio.high
    assert judge(field(7.0, 7.3), 0.05).ratio(0, 1).value == pytest.approx(1 / ratio.value)


@pytest.mark.parametrize("asked", [{"drops": False}, {"question": Question.RANKING}])
def test_identical_stacks_tie_once_enough_is_known(asked):
    values = field(7.0, 7.0, n=40)
    judged = judge(values, 0.05, **asked)
    assert judged.tied[0, 1]
    assert judged.tiers == (1, 1)
    assert judged.difference(0, 1) < 0.05
    assert judged.resolution == pytest.approx(math.expm1(judged.family.half_width[0, 1]))


def test_one_block_decides_nothing():
    judged = judge(field(7.0, 9.0, n=1), 0.05)
    assert judged.winner is None
    assert judged.tiers == (1, 1)
    assert judged.leader == 1
    assert judged.resolution is None
    assert judged.ratio(1, 0).low is None


def test_stacks_that_never_met_have_no_ratio():
    gap = math.nan
    judged = judge([[7.0, 7.1, gap, gap], [gap, gap, 8.0, 8.1]], 0.05)
    assert math.isnan(judged.ratio(0, 1).value)
    assert judged.winner is None


def test_one_stack_alone_leads_itself():
    judged = judge(field(7.0), 0.05)
    assert (judged.leader, judged.tiers, judged.winner, judged.resolution) == (0, (1,), 0, None)
    assert judged.ratio(0, 0).value == judged.ratio(0, 0).high == 1


def test_a_stack_far_ahead_is_named_after_two_blocks_and_surely_the_best():
    judged = judge(field(7.0, 7.9, 6.5, n=2), 0.05)
    assert (judged.leader, judged.winner, judged.left, judged.surely) == (1, 1, (1,), True)
    assert judged.tiers == (2, 1, 3)
    assert judged.behind == 0


def test_a_stack_named_after_two_blocks_with_a_lead_of_a_fifth_is_not_surely_the_best():
    judged = judge(field(7.0, 7.2, n=2, sd=0.001), 0.05)
    assert (judged.leader, judged.winner, judged.left, judged.surely) == (1, 1, (1,), False)
    assert judged.tiers == (1, 1)
    assert judged.behind == 0


def test_of_stacks_that_differ_by_nothing_that_matters_the_winner_is_not_surely_the_best():
    judged = judge(field(7.0, 7.001, 6.5, n=20), 0.05)
    assert judged.winner == judged.leader
    assert judged.leader in (0, 1)
    assert not judged.surely


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 14), st.sampled_from(list(Question)), st.booleans())
def test_everything_that_is_said_follows_from_the_limits_against_the_leader(seed, k, blocks, question, gaps):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.1, (k, 1)) + rng.normal(0, 0.05, (k, blocks))
    if gaps:
        values[rng.random(values.shape) < 0.15] = np.nan
    judged = judge(values, 0.05, question=question)
    rows = {i: judged.ratio(i, judged.leader) for i in range(k) if i != judged.leader}
    for i, row in rows.items():
        assert (judged.tiers[i] > 1) == (row.high is not None and row.high < 1)
        assert row.low is None or row.low <= row.value * (1 + 1e-9)
        assert row.high is None or row.high >= 1 or row.value <= row.high < 1
        assert row.low is None or row.low <= 1 or judged.tiers[i] == 1
        back = judged.ratio(judged.leader, i)
        assert row.low is None or (1 / back.high, 1 / back.low) == pytest.approx((row.low, row.high))
        assert row.low is None or row.high / row.low <= 10 * (1 + 1e-9)
    highs = [row.high - 1 for row in rows.values() if row.high is not None]
    assert judged.behind is None or all(high <= judged.behind + 1e-9 for high in highs)
    assert judged.surely == all(row.high is not None and row.high < 1 for row in rows.values())


EFFECTS = st.lists(st.floats(-1, 1), min_size=1, max_size=7)


def pairs_of(effects, half=0.1):
    effects = np.array(effects)
    estimate = effects[:, None] - effects[None, :]
    return estimate, np.where(np.eye(len(effects), dtype=bool), 0.0, half)


def order_of(effects, half=0.1):
    return beats(*pairs_of(effects, half))


def tiers_of(effects, half=0.1):
    return tiers(order_of(effects, half), pairs_of(effects)[0], int(np.argmax(effects)))


def test_a_clear_order_gives_one_tier_and_one_place_each():
    assert tiers_of([0.0, 0.5, 1.0]) == (3, 2, 1)
    assert _rank_sets(order_of([0.0, 0.5, 1.0])) == ((3, 3), (2, 2), (1, 1))


def test_stacks_that_cannot_be_told_from_the_leader_share_its_tier():
    assert tiers_of([1.0, 0.95, 0.0]) == (1, 1, 2)
    assert _rank_sets(order_of([1.0, 0.95, 0.0])) == ((1, 2), (1, 2), (3, 3))


def test_a_stack_between_two_tiers_has_places_in_both():
    assert tiers_of([1.0, 0.93, 0.86]) == (1, 1, 2)
    assert _rank_sets(order_of([1.0, 0.93, 0.86])) == ((1, 2), (1, 3), (2, 3))


@given(EFFECTS, st.floats(0.01, 0.5))
def test_a_later_tier_is_worse_than_the_head_of_each_earlier_one(effects, half):
    order, found = order_of(effects, half), tiers_of(effects, half)
    heads = {}
    for i in sorted(range(len(effects)), key=lambda i: -effects[i]):
        heads.setdefault(found[i], i)
    for i, tier in enumerate(found):
        assert all(order[head, i] == (tier > number) for number, head in heads.items() if number <= tier)
    assert set(found) == set(range(1, max(found) + 1))


def test_a_leader_that_somebody_beats_is_none():
    estimate = np.array([[0.0, -0.02, 0.2], [0.02, 0.0, 0.2], [-0.2, -0.2, 0.0]])
    half = np.full((3, 3), 0.01)
    assert foremost(beats(estimate, half), estimate, 0) == 1
    assert foremost(beats(estimate, 3 * half), estimate, 0) == 0


def test_leaders_that_beat_one_another_in_a_circle_do_not_go_round_for_ever():
    beating = np.zeros((3, 3), dtype=bool)
    beating[0, 1] = beating[1, 2] = beating[2, 0] = True
    assert foremost(beating, np.zeros((3, 3)), 0) in range(3)


@given(EFFECTS)
def test_true_places_lie_in_the_rank_sets_when_the_limits_hold(effects):
    places = [1 + sum(other > effect for other in effects) for effect in effects]
    for place, (low, high) in zip(places, _rank_sets(order_of(effects)), strict=True):
        assert low <= place <= high


def test_a_tie_needs_narrow_limits_around_zero():
    estimate, half = pairs_of([0.0, 0.03], half=0.04)
    assert ties(estimate, half, 0.05)[0, 1]
    assert not ties(estimate, half, 0.035)[0, 1]
    assert not ties(*pairs_of([0.0, 0.045], half=0.04), 0.05)[0, 1]


def test_a_stack_is_settled_when_all_its_pairs_are_decided_or_ties():
    estimate, half = pairs_of([1.0, 0.5, 0.45], half=0.1)
    order = beats(estimate, half)
    assert list(_settled_stacks(order, ties(estimate, half, 0.05))) == [True, False, False]
    assert _settled_stacks(order, ties(estimate, half, 0.1)).all()


def test_the_best_of_some_is_ahead_of_all_of_them():
    estimate, _ = pairs_of([0.1, 0.7, 0.9])
    assert best(estimate, [0, 1]) == 1
    assert best(estimate, [0, 1, 2]) == 2
    with pytest.raises(ValueError, match="empty"):
        best(estimate, [])
