"""A tuner's goal as it is written."""

import pytest

from stackrace.base.errors import InputError
from stackrace.features.tune.model import GoalKind
from stackrace.features.tune.request import goal_text, parse_goal


@pytest.mark.parametrize(
    ("text", "kind", "rate", "quantile"),
    [
        ("throughput", GoalKind.THROUGHPUT, None, "p99"),
        ("p99 at 200/s", GoalKind.LATENCY, 200.0, "p99"),
        ("P99.9 at 1.5k/s", GoalKind.LATENCY, 1500.0, "p999"),
        ("memory  at 500/s", GoalKind.MEMORY, 500.0, "p99"),
    ],
)
def test_a_goal_is_read(text, kind, rate, quantile):
    goal = parse_goal(text)
    assert (goal.kind, goal.rate_per_s, goal.quantile) == (kind, rate, quantile)
    assert parse_goal(goal_text(goal)) == goal


@pytest.mark.parametrize("text", ["fast", "p99", "p99 at", "p99 at fast", "memory at 0/s", "p75 at 100/s", ""])
def test_what_is_no_goal_is_refused_with_the_flag_named(text):
    with pytest.raises(InputError, match="--goal"):
        parse_goal(text)
