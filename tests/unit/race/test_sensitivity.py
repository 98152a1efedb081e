"""What would have to be true for the answer to change."""

from dataclasses import replace

import pytest

from stackrace.model.interval import Interval
from stackrace.model.race import Rule
from stackrace.model.sensitivity import LargerDifference, LatencyCounts, SmallerDifference
from stackrace.race.sensitivity import _latency
from stackrace.race.standing import standing

from .contests import Entry, contest, flat
from .raced import merged


def of(race):
    return standing(race, merge=merged)


@pytest.mark.parametrize("difference", [0.05, 0.02])
def test_the_difference_named_is_the_one_at_which_the_answer_flips(difference):
    """Race again with a difference just below and just above the one named: the decision changes there."""
    near = {"a": Entry(rates=flat(1000), cpu={"a": 0.4}), "b": Entry(rates=flat(985), cpu={"b": 0.4})}
    race = contest(near, blocks=7, sd=0.02, difference=difference, rule=Rule.ALL_PAIRS)
    found = of(race)
    condition = found.conditions[0]
    assert isinstance(condition, SmallerDifference if found.settled else LargerDifference)
    below, above = (of(replace(race, difference=condition.difference * factor)) for factor in (0.97, 1.03))
    assert (below.settled, above.settled) == (False, True)
    assert condition.now == difference
    if found.settled:
        assert condition.stack is None
    else:
        assert not condition.as_well


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
