"""Arrivals that are typical of their rate."""

from __future__ import annotations

import numpy as np
import pytest

from stackrace.features.capacity.arrivals import Queue, typical_seed
from stackrace.measure.engine import _engine
from stackrace.measure.engine.engine import arrivals
from stackrace.measure.load import Load

SLOW_PAGE = Queue(workers=1, service_s=0.3)
LIMITS = {"p90": 1.0}


def due(seed: int, rate: float = 2.1, requests: int = 60, warmup_s: float = 5.0) -> list[float]:
    load = Load(concurrency=100, requests=requests, rate_per_s=rate, poisson=True, seed=seed)
    return arrivals(load, warmup_s=warmup_s, threads=1)


def test_arrivals_are_the_engines_own() -> None:
    moments = due(3)
    assert moments == sorted(moments) == due(3) != due(4)
    assert moments[0] >= 0 and moments[-1] < 5.0 + 60 / 2.1
    assert len(moments) == pytest.approx(60 + 5 * 2.1, abs=1.5)


def test_workers_follow_from_one_request_and_a_closed_loop() -> None:
    assert Queue.measured(idle_s=0.3, reached_per_s=3.3) == Queue(1, pytest.approx(1 / 3.3))
    assert Queue.measured(idle_s=0.2, reached_per_s=315.0) == Queue(63, pytest.approx(0.2))
    assert Queue.measured(idle_s=0.001, reached_per_s=100.0).workers == 1


def test_requests_wait_in_one_line() -> None:
    slow = SLOW_PAGE.slow([0.0, 0.1, 0.2, 5.0], {"p50": 0.5, "p90": 0.69}, begins_s=0.0)
    assert slow == {"p50": 0.25, "p90": 0.25}
    two = Queue(workers=2, service_s=0.3).slow([0.0, 0.1, 0.2], {"p50": 0.35}, begins_s=0.0)
    assert two == {"p50": pytest.approx(1 / 3)}
    assert SLOW_PAGE.slow([0.0, 0.1], {"p50": 0.5}, begins_s=0.05) == {"p50": 0.0}


def test_the_long_run_is_what_theory_says() -> None:
    """A queue with fixed service times waits half as long as one with random ones: Pollaczek and Khinchine."""
    rate, limits = 2.0, np.linspace(0.3, 6, 400)
    slow = SLOW_PAGE.typical(rate, {str(limit): limit for limit in limits})
    mean_s = 0.3 + float(np.trapezoid(list(slow.values()), limits))
    load = rate * 0.3
    assert mean_s == pytest.approx(0.3 + load * 0.3 / (2 * (1 - load)), rel=0.1)


def test_above_the_physical_limit_nothing_is_typical() -> None:
    assert SLOW_PAGE.typical(3.34, LIMITS) is None
    assert chosen(range(7, 20), rate=3.34) == 7


def chosen(seeds: range, rate: float = 2.1, queue: Queue = SLOW_PAGE) -> int:
    return typical_seed(
        queue, seeds, lambda seed: due(seed, rate), rate_per_s=rate, warmup_s=5.0, limits_s=LIMITS,
        allowed={"p90": 0.1},
    )  # fmt: skip


def test_chosen_arrivals_vary_less_than_any() -> None:
    wanted = SLOW_PAGE.typical(2.1, LIMITS)["p90"]

    def far(seed: int) -> float:
        return abs(SLOW_PAGE.slow(due(seed), LIMITS, begins_s=5.0)["p90"] - wanted)

    typical = [far(chosen(range(first, first + 20))) for first in range(0, 600, 20)]
    assert np.mean(typical) < 0.2 * np.mean([far(seed) for seed in range(600)])


def test_a_trial_with_very_many_arrivals_takes_the_first_draw() -> None:
    fast = Queue(workers=1, service_s=1e-6)
    due_s = [0.0] * 200_001
    seed = typical_seed(
        fast, [4, 5], lambda _: due_s, rate_per_s=1e5, warmup_s=0.0, limits_s=LIMITS, allowed={"p90": 0.1}
    )
    assert seed == 4


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_rate_is_an_error(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        _engine.arrivals(rate_per_s=rate, seed=0, span_s=1.0, threads=1)
