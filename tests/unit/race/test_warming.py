"""How long stacks are loaded before anything counts."""

from dataclasses import replace

import pytest
from tests.factories import make_result
from tests.unit.race.simulated import PATHS, SPEEDS, Nowhere, race

from stackrace.race.rewarm import MOST_REWARM_S, rewarm_s
from stackrace.race.schedule import REWARM_S
from stackrace.race.warmup import rising


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


def test_slow_answers_need_a_longer_re_warm_within_bounds():
    assert rewarm_s(None) == rewarm_s(0.001) == REWARM_S
    assert rewarm_s(0.1) == pytest.approx(0.3)
    assert rewarm_s(9.0) == MOST_REWARM_S


class Slow(Nowhere):
    """Every answer takes 0.1 s when few ask, and 5 s when many do."""

    def load(self, stack, workload, load, rewarm_s, limit_s=float("inf")):
        seen = super().load(stack, workload, load, rewarm_s, limit_s)
        result = make_result(self.speeds[stack.path], load=load)
        slow = replace(result.latency, p50=0.1 if load.concurrency == 1 else 5.0)
        return replace(seen, result=replace(result, latency=slow))


def test_a_race_re_warms_as_long_as_the_app_needs_however_many_wait_in_its_queue(clock):
    place = Slow(clock, SPEEDS)
    finished, _ = race(clock, place, PATHS, levels=(1, 100))
    assert finished.launches
    # warm-ups have none
    rewarms = {round(seen[3], 9) for seen in place.seen} - {0.0}
    assert rewarms == {REWARM_S, 0.3}
    assert {round(seen[3], 9) for seen in place.seen[-3:]} == {0.3}
