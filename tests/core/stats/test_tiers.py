"""Tiers: what the pairs allow to say about places, and nothing more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.stats.judge import beats, best, foremost, rank_sets, settled_stacks, tiers, ties

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
    assert rank_sets(order_of([0.0, 0.5, 1.0])) == ((3, 3), (2, 2), (1, 1))


def test_stacks_that_cannot_be_told_from_the_leader_share_its_tier():
    assert tiers_of([1.0, 0.95, 0.0]) == (1, 1, 2)
    assert rank_sets(order_of([1.0, 0.95, 0.0])) == ((1, 2), (1, 2), (3, 3))


def test_a_stack_between_two_tiers_has_places_in_both():
    assert tiers_of([1.0, 0.93, 0.86]) == (1, 1, 2)
    assert rank_sets(order_of([1.0, 0.93, 0.86])) == ((1, 2), (1, 3), (2, 3))


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
    for place, (low, high) in zip(places, rank_sets(order_of(effects)), strict=True):
        assert low <= place <= high


def test_a_tie_needs_narrow_limits_around_zero():
    estimate, half = pairs_of([0.0, 0.03], half=0.04)
    assert ties(estimate, half, 0.05)[0, 1]
    assert not ties(estimate, half, 0.035)[0, 1]
    assert not ties(*pairs_of([0.0, 0.045], half=0.04), 0.05)[0, 1]


def test_a_stack_is_settled_when_all_its_pairs_are_decided_or_ties():
    estimate, half = pairs_of([1.0, 0.5, 0.45], half=0.1)
    order = beats(estimate, half)
    assert list(settled_stacks(order, ties(estimate, half, 0.05))) == [True, False, False]
    assert settled_stacks(order, ties(estimate, half, 0.1)).all()


def test_the_best_of_some_is_ahead_of_all_of_them():
    estimate, _ = pairs_of([0.1, 0.7, 0.9])
    assert best(estimate, [0, 1]) == 1
    assert best(estimate, [0, 1, 2]) == 2
    with pytest.raises(ValueError, match="empty"):
        best(estimate, [])
