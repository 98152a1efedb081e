"""Whether a run kept its goal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.factories import make_counts, make_quantiles, make_result

from stackrace.features.capacity.capacity_report import goal_text, missed_words
from stackrace.measure.engine.load_run import Goal, Miss, Missed

GOAL = Goal({"p50": 0.01, "p99": 0.05})


def test_a_goal_reads_as_one_would_say_it() -> None:
    assert goal_text(GOAL) == "p50 ≤ 10 ms and p99 ≤ 50 ms"
    assert goal_text(Goal({"p999": 1.0})) == "p99.9 ≤ 1 s"
    assert GOAL.quantiles == (0.5, 0.99)


@pytest.mark.parametrize(
    ("p50_s", "censored", "counts", "said"),
    [
        # limits may be reached and not exceeded; a bound is told as one
        (0.01, (), {}, []),
        (0.02, (), {}, ["p50 was 20 ms", "p99 was 68 ms"]),
        (0.02, ("p99",), {}, ["p50 was 20 ms", "p99 was at least 68 ms"]),
        # one error in a thousand is forgiven
        (0.01, (), {"non2xx": 10}, []),
        (0.01, (), {"non2xx": 11, "timed_out": 9}, ["0.2 % failed or got a wrong answer"]),
        # what is never sent counts
        (0.01, (), {"unsent": 50}, []),
        (0.01, (), {"unsent": 101}, ["1 % were never sent"]),
        (0.0, (), {"ok": 0}, ["there was no right answer"]),
    ],
)
def test_each_way_to_miss_a_goal_is_told(p50_s: float, censored: tuple[str, ...], counts: dict, said: list) -> None:
    counted = make_counts(**{"ok": 10_000, **counts})
    result = replace(make_result(), latency=make_quantiles(p50_s, censored=censored), counts=counted)
    assert [missed_words(miss) for miss in GOAL.misses(result)] == said


def test_a_miss_is_data() -> None:
    result = replace(make_result(), latency=make_quantiles(0.02), counts=make_counts(10_000, unsent=101))
    latency, *_, unsent = GOAL.misses(result)
    assert (latency.what, latency.value, latency.quantile) == (Missed.LATENCY, 0.02, "p50")
    assert unsent == Miss(what=Missed.UNSENT, value=101 / 10_101)


def test_each_way_to_miss_a_goal_has_words() -> None:
    assert all(missed_words(Miss(what=what, quantile="p50")) for what in Missed)
