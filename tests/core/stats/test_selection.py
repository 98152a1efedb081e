"""The rule that names a winner: what it may and may not do, whatever the values are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stackrace.stats.contrasts import contrasts
from stackrace.stats.limits import critical
from stackrace.stats.selection import _WIDEST, LOOKS, WINNER_FROM, Selection, last_look, looks, selected

DELTA = math.log(1.05)
LOGS = st.floats(-5, 5)


@st.composite
def races(draw, least=1, most=6, gaps=False):
    """ln of the response, (K, B): stacks some 20 % apart, launches with an sd of 1 to 10 %."""
    k, blocks = draw(st.integers(least, most)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = rng.normal(0, draw(st.sampled_from([0.0, 0.05, 0.2])), (k, 1)) + rng.normal(
        0, draw(st.sampled_from([0.01, 0.03, 0.1])), (k, blocks)
    )
    if gaps:
        values[rng.random(values.shape) < 0.15] = np.nan
    return values


def decisions(seen: Selection):
    return seen.blocks, seen.left.tolist(), int(seen.leader), int(seen.winner)


def assert_alike(one: Selection, other: Selection):
    assert decisions(one) == decisions(other)
    for mine, its in ((one.pairs, other.pairs), (one.limits(), other.limits())):
        np.testing.assert_allclose(mine.estimate, its.estimate, atol=1e-9)
        np.testing.assert_allclose(mine.half_width, its.half_width, rtol=0.03)


@given(races(), st.data())
def test_what_a_block_does_to_all_stacks_leaves_no_trace(values, data):
    hour = data.draw(arrays(float, values.shape[1], elements=LOGS))
    for plain, moved in zip(looks(values, DELTA), looks(values + hour, DELTA), strict=True):
        assert_alike(plain, moved)


@given(races(gaps=True), LOGS)
def test_another_unit_changes_nothing(values, shift):
    for plain, moved in zip(looks(values, DELTA), looks(values + shift, DELTA), strict=True):
        assert_alike(plain, moved)


@given(races(), st.randoms(use_true_random=False))
def test_the_order_in_which_stacks_are_listed_does_not_matter(values, dice):
    places = dice.sample(range(len(values)), len(values))
    for plain, other in zip(looks(values, DELTA), looks(values[places], DELTA), strict=True):
        assert other.left.tolist() == plain.left[places].tolist()
        assert places[int(other.leader)] == plain.leader
        assert (places[int(other.winner)] if other.winner >= 0 else -1) == plain.winner


@given(races(gaps=True))
def test_a_stack_that_left_never_comes_back_and_the_leader_never_leaves(values):
    before = np.isfinite(values).any(axis=-1)
    for seen in looks(values, DELTA):
        assert not (seen.left & ~before).any()
        assert seen.left[seen.leader] or not seen.measured.any()
        assert seen.winner in (-1, seen.leader)
        before = ~seen.out & before


@given(races(gaps=True))
def test_what_a_stack_does_after_it_left_counts_for_nothing(values):
    altered, ran = values.copy(), np.isfinite(values).any(axis=-1)
    for seen in looks(values, DELTA):
        altered[seen.out & ran, seen.blocks :] = 99.0
    for plain, other in zip(looks(values, DELTA), looks(altered, DELTA), strict=True):
        assert_alike(plain, other)


@given(races(least=2))
def test_the_limits_of_a_stack_that_left_stay_as_its_last_look_saw_them(values):
    before = None
    for seen in looks(values, DELTA):
        if before is not None:
            gone = ~before.left[:, None] | ~before.left
            np.testing.assert_array_equal(seen.pairs.half_width[gone], before.pairs.half_width[gone])
            np.testing.assert_array_equal(seen.variances.own[~before.left], before.variances.own[~before.left])
        before = seen


@given(races(least=2, gaps=True))
def test_nobody_wins_whose_limits_do_not_allow_it(values):
    for seen in looks(values, DELTA):
        if seen.winner < 0:
            continue
        rivals = seen.left & (np.arange(len(values)) != seen.winner)
        lower = (seen.pairs.estimate - seen.pairs.half_width)[seen.winner, rivals]
        assert (lower > -DELTA).all()
        assert seen.blocks in LOOKS
        assert seen.blocks > LOOKS[0] or not rivals.any()


@given(races(least=2))
def test_after_two_blocks_only_those_leave_that_are_surely_twice_the_difference_behind(values):
    first = next(looks(values[:, :2], DELTA))
    if first.blocks < LOOKS[0]:
        return
    lower = first.pairs.estimate - first.pairs.half_width
    far = (lower > 2 * DELTA).any(axis=0)
    leads = np.arange(len(values)) == first.leader
    np.testing.assert_array_equal(~first.left, far & ~leads)


@given(races(least=2))
def test_between_two_looks_nobody_leaves_and_nobody_wins(values):
    for seen in looks(values, DELTA):
        if seen.blocks not in LOOKS:
            assert seen.winner == -1
            *_, before = looks(values[:, : last_look(seen.blocks)], DELTA)
            np.testing.assert_array_equal(seen.left, before.left | (last_look(seen.blocks) == 0))


@given(races(gaps=True))
def test_a_ranking_drops_nobody(values):
    for seen in looks(values, DELTA, drops=False):
        np.testing.assert_array_equal(seen.left, np.isfinite(values[:, : seen.blocks]).any(axis=-1))
        assert not seen.out.any()


@given(races(least=2, gaps=True), st.sampled_from([0.0, 0.01, DELTA, 0.2]))
def test_how_far_behind_the_leader_may_be_is_never_negative_and_for_a_winner_of_all_below_the_difference(
    values, delta
):
    for seen in looks(values, delta):
        ahead = seen.ahead()
        assert ahead[seen.leader] == 0
        assert (ahead >= 0).all()
        if seen.winner >= 0:
            assert (ahead[seen.left] <= delta).all()


@given(races(least=2))
def test_a_stack_that_still_may_be_ahead_counts_as_far_as_its_limits_reach(values):
    seen = selected(values, DELTA, drops=False)
    if seen.blocks < 2:
        assert (seen.ahead() == np.where(np.arange(len(values)) == seen.leader, 0, np.inf)).all()
        return
    reach = (seen.pairs.half_width - seen.pairs.estimate)[seen.leader]
    reach[seen.leader] = 0
    np.testing.assert_allclose(seen.ahead(), np.maximum(reach, 0))


def test_a_stack_that_left_counts_no_more():
    values = np.array([[0.0, 0.01, 0.0], [0.0, 0.0, 0.012], [-1.0, -1.01, -1.0]])
    seen = selected(values, 0.001)
    assert seen.left.tolist() == [True, True, False]
    reach = seen.pairs.half_width[0, 1] - abs(seen.pairs.estimate[0, 1])
    assert seen.ahead().max() == pytest.approx(reach)
    assert seen.ahead()[2] == 0


def test_a_stack_that_comes_late_is_none_before():
    values = np.array([[0.0, 0.01, 0.0, 0.01], [-1.0, -1.01, -1.0, -1.0], [np.nan, np.nan, 1.0, 1.0]])
    late, without = list(looks(values, DELTA)), list(looks(values[:2], DELTA))
    assert_alike_of_two(late[0], without[0])
    assert late[0].left.tolist()[2] is False
    assert late[-1].left[2]


def assert_alike_of_two(one: Selection, other: Selection):
    np.testing.assert_allclose(one.pairs.half_width[:2, :2], other.pairs.half_width)
    assert one.left[:2].tolist() == other.left.tolist()
    assert int(one.winner) == int(other.winner)


@given(st.integers(1, 14), st.booleans())
def test_one_stack_alone_wins_at_the_first_look(blocks, drops):
    seen = next(looks(np.random.default_rng(blocks).normal(size=(1, blocks)), DELTA, drops=drops))
    assert seen.left.tolist() == [True]
    assert int(seen.winner) == (0 if blocks >= LOOKS[0] or not drops else -1)
    assert seen.ahead() == [0]


@pytest.mark.exhaustive
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 14), st.booleans(), st.booleans())
def test_many_races_at_once_go_like_each_by_itself(seed, k, blocks, gaps, drops):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.1, (5, k, 1)) + rng.normal(0, 0.04, (5, k, blocks))
    if gaps:
        values[rng.random(values.shape) < 0.15] = np.nan
    alone = [list(looks(race, DELTA, drops=drops)) for race in values]
    for at, together in enumerate(looks(values, DELTA, drops=drops)):
        ahead, limits = together.ahead(), together.limits().half_width
        for number, one in enumerate(alone):
            assert together.left[number].tolist() == one[at].left.tolist()
            assert together.leader[number] == one[at].leader
            assert together.winner[number] == one[at].winner
            np.testing.assert_allclose(ahead[number], one[at].ahead(), rtol=1e-9)
            np.testing.assert_allclose(limits[number], one[at].limits().half_width, rtol=1e-9)


def test_values_that_never_vary_leave_no_doubt():
    found = selected(np.tile(np.array([[0.0], [0.3], [0.2]]), 4), DELTA, drops=False)
    assert int(found.winner) == 1
    assert (found.ahead() == 0).all()
    assert (found.limits().half_width == 0).all()


def test_two_stacks_with_identical_values_are_within_the_difference_of_each_other():
    found = selected(np.zeros((2, 3)), DELTA)
    assert int(found.winner) in (0, 1)
    assert found.ahead().max() <= DELTA


def test_stacks_that_never_met_leave_the_race_open():
    gap = math.nan
    found = selected([[1.0, 1.1, gap, gap], [gap, gap, 1.0, 1.2]], DELTA)
    assert int(found.winner) == -1
    assert found.left.all()
    assert found.ahead().max() == np.inf


def test_a_stack_that_never_ran_is_not_in():
    values = np.random.default_rng(3).normal(0, 0.01, (3, 6))
    values[0] += 0.5
    values[2] = math.nan
    found = selected(values, DELTA)
    assert not found.left[2]
    assert int(found.winner) == 0


def test_a_stack_far_ahead_is_surely_the_best():
    values = np.random.default_rng(4).normal(0, 0.02, (4, 5))
    values[2] += 0.4
    found = selected(values, DELTA)
    assert int(found.winner) == 2
    assert (found.ahead() == 0).all()


def test_two_blocks_order_nobody_and_three_do():
    values = np.array([[0.0], [1.0]]) + np.random.default_rng(5).normal(0, 0.001, (2, 3))
    two, three = looks(values, DELTA, drops=False)
    assert np.isinf(two.limits().half_width[0, 1])
    assert three.limits().half_width[0, 1] < 1
    assert WINNER_FROM == 3


def test_a_stack_that_left_after_two_blocks_has_limits():
    values = np.array([[0.0], [0.02], [-2.0]]) + np.random.default_rng(5).normal(0, 0.01, (3, 2))
    found = selected(values, DELTA)
    assert found.left.tolist() == [True, True, False]
    assert np.isinf(found.limits().half_width[0, 1])
    assert np.isfinite(found.limits().half_width[0, 2])


@pytest.mark.parametrize(("stacks", "least"), [(2, 1.5), (3, 1.5), (4, 1.35), (8, 1.35)])
def test_limits_of_two_blocks_are_never_narrow_however_alike_the_blocks_were(stacks, least):
    values = np.zeros((stacks, 4))
    values[0] = 0.2
    half = selected(values, DELTA).limits().half_width
    np.testing.assert_allclose(half[0, 1:], math.log(least))
    assert selected(values, DELTA, drops=False).limits().half_width.max() == 0


@given(races(least=2, gaps=True))
def test_limits_that_contain_0_and_are_a_factor_of_ten_apart_are_none(values):
    found = selected(values, DELTA).limits()
    tells = np.isfinite(found.half_width) & (np.abs(np.nan_to_num(found.estimate)) <= found.half_width)
    assert (2 * found.half_width[tells] <= _WIDEST).all()


def test_what_is_learned_later_of_a_stack_shows_in_its_limits_against_those_that_left():
    rng = np.random.default_rng(9)
    values = np.array([[0.0], [0.0], [-1.0]]) + rng.normal(0, 0.01, (3, 8))
    values[0, 2:] += rng.normal(0, 0.3, 6)
    early, late = selected(values[:, :2], DELTA), selected(values, DELTA)
    assert not early.left[2]
    assert late.limits().half_width[0, 2] > early.limits().half_width[0, 2]
    assert late.pairs.half_width[0, 2] == early.pairs.half_width[0, 2]


def test_looks_are_planned_and_the_last_block_is_looked_at_in_any_case():
    seen = [one.blocks for one in looks(np.random.default_rng(6).normal(size=(3, 13)), DELTA)]
    assert seen == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13]
    assert [last_look(n) for n in (0, 1, 2, 11, 13, 40, 99)] == [0, 0, 2, 10, 12, 40, 40]


def test_the_limits_of_all_pairs_together_hold_in_95_percent_of_races():
    values = np.random.default_rng(7).normal(0, 0.05, (1000, 5, 8))
    found = contrasts(values).family(critical, 5, 0.05)
    missed = (np.abs(found.estimate) > found.half_width).any(axis=(-2, -1)).mean()
    assert 0.03 <= missed <= 0.065
