"""Whether a run kept its goal."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import make_counts, make_quantiles, make_result

from stackrace.load.goal import Goal

GOAL = Goal({"p50": 0.01, "p99": 0.05})


def missed(p50_s: float = 0.010, *, censored: tuple[str, ...] = (), **counts: int) -> list[str]:
    result = replace(
        make_result(), latency=make_quantiles(p50_s, censored=censored), counts=make_counts(10_000, **counts)
    )
    return list(GOAL.missed_by(result))


def test_a_goal_reads_as_one_would_say_it() -> None:
    assert GOAL.text == "p50 ≤ 10 ms and p99 ≤ 50 ms"
    assert Goal({"p999": 1.0}).text == "p99.9 ≤ 1 s"
    assert GOAL.quantiles == (0.5, 0.99)


def test_limits_may_be_reached_and_not_exceeded() -> None:
    assert missed() == []
    assert missed(0.02) == ["p50 was 20 ms", "p99 was 68 ms"]


def test_a_bound_is_told_as_one() -> None:
    assert missed(0.02, censored=("p99",))[1] == "p99 was at least 68 ms"


def test_one_error_in_a_thousand_is_forgiven() -> None:
    assert missed(non2xx=10) == []
    assert missed(non2xx=11, timed_out=9) == ["0.2 % failed or were answered wrongly"]


def test_what_is_never_sent_counts() -> None:
    assert missed(unsent=50) == []
    assert missed(unsent=101) == ["1 % were never sent"]


def test_no_answer_keeps_no_goal() -> None:
    result = replace(make_result(), latency=make_quantiles(0.0), counts=make_counts(0))
    assert list(GOAL.missed_by(result)) == ["nothing was answered rightly"]
