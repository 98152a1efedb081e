"""The allowance pays for work with pauses."""

import pytest

from stackrace.measure.probe import Allowance, sampler


class Clock:
    """Stands in for the ``time`` module: CPU and wall time advance when told to."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.wall_s = 100.0

    def thread_time(self) -> float:
        return self.cpu_s

    def monotonic(self) -> float:
        return self.wall_s

    def work(self, budget: Allowance, cost_s: float) -> None:
        with budget.work():
            self.cpu_s += cost_s
            self.wall_s += cost_s


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sampler, "time", clock)
    return clock


def test_the_first_work_is_due_at_once(clock):
    assert Allowance().pause_s() == 0


def test_work_is_paid_for_with_its_share(clock):
    budget = Allowance()
    clock.work(budget, 0.02)
    assert budget.pause_s() == pytest.approx(5.0)
    assert budget.spent_s == pytest.approx(0.02)


def test_cheap_work_still_pauses(clock):
    budget = Allowance(least_pause_s=0.5)
    clock.work(budget, 1e-6)
    assert budget.pause_s() == pytest.approx(0.5)


def test_several_that_work_at_once_are_all_paid_for(clock):
    budget = Allowance()
    for _ in range(5):
        clock.work(budget, 0.02)
    assert budget.pause_s() == pytest.approx(25.0 - 4 * 0.02)


def test_in_the_long_run_the_share_is_kept(clock):
    budget, began = Allowance(share=0.004), clock.wall_s
    for cost_s in (0.01, 0.03, 0.002, 0.05) * 50:
        clock.wall_s += budget.pause_s()
        clock.work(budget, cost_s)
    clock.wall_s += budget.pause_s()
    assert budget.spent_s / (clock.wall_s - began) <= 0.004


def test_work_that_fails_is_booked_too(clock):
    budget = Allowance()
    with pytest.raises(ZeroDivisionError), budget.work():
        clock.cpu_s += 0.02
        raise ZeroDivisionError
    assert budget.pause_s() == pytest.approx(5.0)
