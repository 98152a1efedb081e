"""How long stacks are loaded before anything counts."""

from dataclasses import replace

import pytest
from tests.core.race.simulated import PATHS, SPEEDS, Nowhere, race
from tests.factories import make_result

from stackrace.deploy.machine import WARM_BIN_S
from stackrace.race.pacing.overhead import _MOST_REWARM_S, REWARM_S, _warmup_cap_s, rewarm_s
from stackrace.race.run.block import rising


@pytest.mark.parametrize(
    ("counts", "rises"),
    [
        ((10, 80, 100), False),  # by more than a tenth, but no more than chance
        ((100, 800, 1000), True),
        ((1000, 1000, 1050), False),
        ((1000, 1000, 500), False),
        ((0, 0, 0), True),
        ((50,), True),
    ],
)
def test_a_stack_rises_while_it_answers_more_than_chance_explains(counts, rises):
    assert rising(counts) is rises


@pytest.mark.parametrize(
    ("budget_s", "most_blocks", "cap_s"),
    [(180.0, None, 3.0), (600.0, None, 10.0), (3600.0, None, 20.0), (600.0, 120, 600 / 2 / 360), (200.0, 120, 0.5)],
)
def test_the_more_blocks_there_are_to_be_the_shorter_is_a_warm_up(budget_s, most_blocks, cap_s):
    assert _warmup_cap_s(budget_s, 2, response_s=0.1, most_blocks=most_blocks) == pytest.approx(cap_s)


class Filling(Nowhere):
    """A stack that answers nothing for a while, and then more from bin to bin, up to its speed."""

    silent, growing = 0, 0

    def warm_up(self, stack, workload, load, enough):
        counts = []
        while len(counts) * WARM_BIN_S < load.duration_s - 1e-9 and not enough(counts):
            counts.append(min(max(len(counts) - self.silent + 1, 0), self.growing + 1) * 1000)
        self.warmed.append(len(counts))
        return len(counts) * WARM_BIN_S


@pytest.mark.parametrize(
    ("silent", "growing", "bins"),
    [(0, 0, 3), (0, 2, 4), (3, 0, 5), (0, 9, 5)],
    ids=["at once", "rises for 0.2 s", "answers after 0.3 s", "rises to the end"],
)
def test_a_short_warm_up_ends_as_soon_as_throughput_does_not_rise(clock, silent, growing, bins):
    machine = Filling(clock, SPEEDS)
    machine.silent, machine.growing = silent, growing
    race(clock, machine, PATHS, budget_s=30.0)
    assert set(machine.warmed) == {bins}


def test_a_long_warm_up_ends_once_throughput_was_steady_for_half_of_it(clock):
    machine = Filling(clock, SPEEDS)
    race(clock, machine, ["gunicorn"], budget_s=120.0)
    assert set(machine.warmed) == {20}


def test_slow_answers_need_a_longer_re_warm_within_bounds():
    assert rewarm_s(None) == rewarm_s(0.001) == REWARM_S
    assert rewarm_s(0.1) == pytest.approx(0.3)
    assert rewarm_s(9.0) == _MOST_REWARM_S


class Slow(Nowhere):
    """Every answer takes 0.1 s when few ask, and 5 s when many do."""

    def load(self, stack, workload, load, rewarm_s, limit_s=float("inf")):
        seen = super().load(stack, workload, load, rewarm_s, limit_s)
        result = make_result(self.speeds[stack.path], load=load)
        slow = replace(result.latency, p50=0.1 if load.concurrency == 1 else 5.0)
        return replace(seen, result=replace(result, latency=slow))


def test_a_race_re_warms_as_long_as_the_app_needs_however_many_wait_in_its_queue(clock):
    machine = Slow(clock, SPEEDS)
    finished, _ = race(clock, machine, PATHS, levels=(1, 100))
    assert finished.launches
    rewarms = {round(seen[3], 9) for seen in machine.seen}
    assert rewarms == {REWARM_S, 0.3}
    assert {round(seen[3], 9) for seen in machine.seen[-3:]} == {0.3}
