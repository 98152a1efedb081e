"""Turns: who came after whom."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.factories import make_finding, make_load, make_race, make_result

from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.launch import Launch, Slice
from stackrace.race.judge.race_view import turns

REDONE = Verdict((make_finding("steal", Effect.REDOES),))


def race_of(*order, block=0):
    """A race of one block whose slices came in this ``order`` of (stack, connections) or (stack, …, verdict)."""
    slices = {}
    for index, (stack, level, *verdict) in enumerate(order):
        one = Slice(index=index, load=make_load(level), result=make_result(1000), usage=(),
                    verdict=verdict[0] if verdict else Verdict())  # fmt: skip
        slices.setdefault(stack, []).append(one)
    launches = tuple(
        Launch(id=f"{n:013d}", block=block, stack=stack, slices=tuple(own))
        for n, (stack, own) in enumerate(slices.items())
    )
    return replace(make_race(stacks=["a", "b"], blocks=0), launches=launches)


def told(race):
    return [(one.stack, one.turn, one.position, one.after) for one in turns(race)]


def test_a_turn_ends_when_a_stack_comes_again():
    found = told(race_of(("a", 1), ("b", 1), ("b", 1), ("a", 1)))
    assert found == [("a", 1, 0, ""), ("b", 1, 1, "a"), ("b", 2, 0, "b"), ("a", 2, 1, "b")]


def test_a_turn_ends_with_its_level_and_the_predecessor_stays():
    found = told(race_of(("a", 1), ("b", 1), ("a", 9), ("b", 9)))
    assert found == [("a", 1, 0, ""), ("b", 1, 1, "a"), ("a", 2, 0, "b"), ("b", 2, 1, "a")]


def test_a_redone_slice_belongs_to_the_same_turn_and_the_first_try_only_precedes():
    found = told(race_of(("a", 1, REDONE), ("b", 1), ("a", 1), ("b", 1)))
    assert found == [("b", 1, 1, "a"), ("a", 1, 2, "b"), ("b", 2, 0, "a")]


def test_a_twin_leaves_behind_what_its_original_does():
    found = told(race_of(("a#twin", 1), ("b", 1)))
    assert found == [("a#twin", 1, 0, ""), ("b", 1, 1, "a")]


def test_the_value_is_the_logarithm_of_the_throughput():
    assert [one.value for one in turns(race_of(("a", 1)))] == [math.log(1000)]
