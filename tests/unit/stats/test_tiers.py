"""Tiers: what the pairs allow to say about places, and nothing more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stackrace.stats.tiers import above, beats, best, rank_sets, settled_stacks, tiers, ties, winners

RELATIONS = st.integers(1, 7).flatmap(lambda k: hnp.arrays(bool, (k, k)))
EFFECTS = st.lists(st.floats(-1, 1), min_size=1, max_size=7)


def pairs_of(effects, half=0.1):
    effects = np.array(effects)
    estimate = effects[:, None] - effects[None, :]
    return estimate, np.where(np.eye(len(effects), dtype=bool), 0.0, half)


def order_of(effects, half=0.1):
    return above(beats(*pairs_of(effects, half)))


def test_a_clear_order_gives_one_tier_and_one_place_each():
    order = order_of([0.0, 0.5, 1.0])
    assert tiers(order) == (3, 2, 1)
    assert rank_sets(order) == ((3, 3), (2, 2), (1, 1))


def test_stacks_that_cannot_be_told_apart_share_a_tier_and_all_its_places():
    order = order_of([1.0, 0.95, 0.0])
    assert tiers(order) == (1, 1, 2)
    assert rank_sets(order) == ((1, 2), (1, 2), (3, 3))


def test_a_stack_between_two_tiers_has_places_in_both():
    order = order_of([1.0, 0.93, 0.86])
    assert tiers(order) == (1, 1, 2)
    assert rank_sets(order) == ((1, 2), (1, 3), (2, 3))


def test_proof_passes_through_others():
    beating = np.zeros((3, 3), dtype=bool)
    beating[0, 1] = beating[1, 2] = True
    assert above(beating)[0, 2]
    assert tiers(above(beating)) == (1, 2, 3)


def test_those_who_beat_one_another_in_a_circle_share_a_tier():
    beating = np.zeros((4, 4), dtype=bool)
    beating[0, 1] = beating[1, 2] = beating[2, 0] = beating[2, 3] = True
    assert tiers(above(beating)) == (1, 1, 1, 2)


@given(RELATIONS)
def test_whatever_is_seen_becomes_a_strict_partial_order(beating):
    order = above(beating)
    assert not order.diagonal().any()
    assert not (order & order.T).any()
    assert not (((order.astype(int) @ order.astype(int)) > 0) & ~order).any()


@given(RELATIONS)
def test_tiers_agree_with_the_order_and_claim_nothing_inside(beating):
    order = above(beating)
    tier = np.array(tiers(order))
    for better, worse in zip(*np.nonzero(order), strict=True):
        assert tier[better] < tier[worse]
    for stack, number in enumerate(tier):
        over = tier[order[:, stack]]
        assert number == 1 + (over.max() if len(over) else 0)
    assert set(tier) == set(range(1, tier.max() + 1))


@given(RELATIONS)
def test_rank_sets_agree_with_the_tiers(beating):
    order = above(beating)
    for (low, high), tier in zip(rank_sets(order), tiers(order), strict=True):
        assert 1 <= tier <= low <= high <= len(order)
        assert (low == 1) == (tier == 1)


@given(RELATIONS, st.randoms(use_true_random=False))
def test_the_order_in_which_stacks_are_listed_does_not_matter(beating, dice):
    shuffled = dice.sample(range(len(beating)), len(beating))
    order, other = above(beating), above(beating[np.ix_(shuffled, shuffled)])
    assert tiers(other) == tuple(tiers(order)[i] for i in shuffled)
    assert rank_sets(other) == tuple(rank_sets(order)[i] for i in shuffled)


@given(EFFECTS)
def test_true_places_lie_in_the_rank_sets_when_the_limits_hold(effects):
    places = [1 + sum(other > effect for other in effects) for effect in effects]
    for place, (low, high) in zip(places, rank_sets(order_of(effects)), strict=True):
        assert low <= place <= high


def test_a_tie_needs_narrow_limits_around_zero():
    estimate, half = pairs_of([0.0, 0.03], half=0.04)
    assert ties(estimate, half, 0.05)[0, 1]
    assert not ties(estimate, half, 0.035)[0, 1]
    assert not ties(*pairs_of([0.0, 0.045], half=0.04), 0.05)[0, 1]


def test_a_winner_may_be_unproved_as_long_as_the_rest_does_not_matter():
    estimate, half = pairs_of([0.06, 0.0], half=0.1)
    order = above(beats(estimate, half))
    assert list(winners(estimate, half, order, 0.05)) == [True, False]
    assert not winners(estimate, half, order, 0.03).any()


def test_one_stack_alone_wins_and_unknown_pairs_let_nobody_win():
    assert winners(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1), dtype=bool), 0.05).all()
    estimate, half = pairs_of([1.0, 0.0], half=np.inf)
    assert not winners(estimate, half, above(beats(estimate, half)), 0.05).any()
    estimate[:] = np.nan
    assert not winners(estimate, half, above(beats(estimate, half)), 0.05).any()


def test_a_stack_dropped_early_does_not_keep_the_question_open():
    estimate, half = pairs_of([0.5, 0.47, 0.0], half=0.02)
    half[0, 2] = half[2, 0] = 0.9  # the two met only while little was known
    order = above(beats(estimate, half))
    assert order[1, 2]
    assert winners(estimate, half, order, 0.05)[0]


@given(EFFECTS, st.floats(0, 0.2))
def test_the_best_stack_wins_wherever_anybody_does(effects, delta):
    estimate, half = pairs_of(effects)
    found = winners(estimate, half, above(beats(estimate, half)), delta)
    assert not found.any() or found[int(np.argmax(effects))]


def test_a_stack_is_settled_when_all_its_pairs_are_decided_or_ties():
    estimate, half = pairs_of([1.0, 0.5, 0.45], half=0.1)
    order = above(beats(estimate, half))
    assert list(settled_stacks(order, ties(estimate, half, 0.05))) == [True, False, False]
    assert settled_stacks(order, ties(estimate, half, 0.1)).all()


def test_the_best_of_some_is_ahead_of_all_of_them():
    estimate, _ = pairs_of([0.1, 0.7, 0.9])
    assert best(estimate, [0, 1]) == 1
    assert best(estimate, [0, 1, 2]) == 2
    with pytest.raises(ValueError, match="empty"):
        best(estimate, [])
