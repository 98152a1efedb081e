"""What would have to be true for the answer to change."""

from dataclasses import replace

import pytest

from stackrace.base.numbers import Interval
from stackrace.race.judge.ranking import standing
from stackrace.race.judge.winner import _latency
from stackrace.race.results.answer import LargerDifference, LatencyCounts

from .contests import Entry, contest, flat
from .raced import merged


def of(race):
    return standing(race, merge=merged)


def test_the_difference_named_is_how_much_slower_the_limits_let_another_stack_be():
    entries = {"a": Entry(rates=flat(1300), cpu={"a": 0.4}), "b": Entry(rates=flat(1200), cpu={"b": 0.4})}
    found = of(contest(entries))
    condition = found.conditions[0]
    assert condition == LargerDifference(stack="b", difference=condition.difference, now=0.05)
    assert condition.difference == pytest.approx(1 / found.rows[1].ratio.low - 1)


def test_no_difference_is_named_while_nobody_wins():
    entries = {"a": Entry(rates=flat(1000), cpu={"a": 0.4}), "b": Entry(rates=flat(985), cpu={"b": 0.4})}
    found = of(contest(entries, blocks=3, sd=0.1))
    assert not found.settled
    assert not any(isinstance(one, LargerDifference) for one in found.conditions)


def limited(row, low, value, high, **changes):
    return replace(row, latency_limits={"p99": Interval(value=value, low=low, high=high)}, **changes)


def test_latency_counts_only_if_its_limits_say_so():
    entries = {"a": Entry(rates=flat(1300), cpu={"a": 0.4}), "b": Entry(rates=flat(1000), cpu={"b": 0.4})}
    first, second = of(contest(entries)).rows
    first = limited(first, 0.038, 0.040, 0.043)
    near, far = (limited(second, 0.011, 0.012, high) for high in (0.039, 0.030))
    assert list(_latency((first, near), first)) == []
    assert list(_latency((first, far), first)) == [
        LatencyCounts(
            stack="b", p99_s=far.latency_limits["p99"], first_p99_s=first.latency_limits["p99"], at_least=False
        )
    ]
    unsure = replace(far, latency=replace(far.latency, censored=frozenset({"p99"})))
    assert list(_latency((first, unsure), first)) == []
