"""Whether a run kept its goal."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import make_counts, make_quantiles, make_result

from stackrace.features.capacity.report import goal_text, missed_words
from stackrace.measure.engine.load_run import Goal, Miss, Missed

GOAL = Goal({"p50": 0.01, "p99": 0.05})


def missed(p50_s: float = 0.010, *, censored: tuple[str, ...] = (), **counts: int) -> list[str]:
    result = replace(
        make_result(), latency=make_quantiles(p50_s, censored=censored), counts=make_counts(10_000, **counts)
    )
    return [missed_words(miss) for miss in GOAL.misses(result)]


def test_a_goal_reads_as_one_would_say_it() -> None:
    assert goal_text(GOAL) == "p50 ≤ 10 ms and p99 ≤ 50 ms"
    assert goal_text(Goal({"p999": 1.0})) == "p99.9 ≤ 1 s"
    assert GOAL.quantiles == (0.5, 0.99)


def test_limits_may_be_reached_and_not_exceeded() -> None:
    assert missed() == []
    assert missed(0.02) == ["p50 was 20 ms", "p99 was 68 ms"]


def test_a_bound_is_told_as_one() -> None:
    assert missed(0.02, censored=("p99",))[1] == "p99 was at least 68 ms"


def test_one_error_in_a_thousand_is_forgiven() -> None:
    assert missed(non2xx=10) == []
    assert missed(non2xx=11, timed_out=9) == ["0.2 % failed or got a wrong answer"]


def test_what_is_never_sent_counts() -> None:
    assert missed(unsent=50) == []
    assert missed(unsent=101) == ["1 % were never sent"]


def test_no_answer_keeps_no_goal() -> None:
    result = replace(make_result(), latency=make_quantiles(0.0), counts=make_counts(0))
    assert [missed_words(miss) for miss in GOAL.misses(result)] == ["there was no right answer"]


def test_a_miss_is_data() -> None:
    result = replace(make_result(), latency=make_quantiles(0.02), counts=make_counts(10_000, unsent=101))
    latency, *_, unsent = GOAL.misses(result)
    assert (latency.what, latency.value, latency.quantile) == (Missed.LATENCY, 0.02, "p50")
    assert unsent == Miss(what=Missed.UNSENT, value=101 / 10_101)


def test_each_way_to_miss_a_goal_has_words() -> None:
    assert all(missed_words(Miss(what=what, quantile="p50")) for what in Missed)
