"""The pilot: what the first blocks tell about the rest."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from tests.factories import make_load

from stackrace.race.piloting import FARTHEST, PRIOR_DEGREES, between_of, piloted
from stackrace.race.schedule import BETWEEN, Costs, Extent, plan_block
from stackrace.stats.pilot import Pilot

from .raced import launch_of, race_of, slice_of

LEVEL = ("", "c=20")


def raced(*, launch_sd, slice_sd, blocks=3, passes=4, stacks=6):
    """A race whose launches and slices vary by so much, in weather that all share."""
    dice = random.Random(1)
    launches, index = [], 0
    for block in range(blocks):
        order = [f"s{i}" for i in range(stacks)]
        luck = {stack: dice.gauss(0, launch_sd) for stack in order}
        slices = {stack: [] for stack in order}
        for _ in range(passes):
            weather = dice.gauss(0, 0.3)
            for stack in dice.sample(order, stacks):
                rate = 1000 * math.exp(luck[stack] + weather + dice.gauss(0, slice_sd))
                slices[stack].append(replace(slice_of(rate, load=make_load(20)), index=index))
                index += 1
        launches += [launch_of(stack, block, *slices[stack]) for stack in order]
    return replace(race_of({f"s{i}": 1 for i in range(stacks)}, blocks=0), launches=tuple(launches))


def test_three_blocks_are_the_pilot():
    assert piloted(raced(launch_sd=0.1, slice_sd=0.1, blocks=2), LEVEL) is None
    assert piloted(raced(launch_sd=0.1, slice_sd=0.1), LEVEL) is not None
    assert piloted(raced(launch_sd=0.1, slice_sd=0.1), ("", "c=1")) is None


def test_the_pilot_sees_launches_and_slices_but_not_the_weather():
    found = piloted(raced(launch_sd=0.1, slice_sd=0.05, blocks=20), LEVEL)
    assert math.sqrt(found.within) == pytest.approx(0.05, rel=0.15)
    assert math.sqrt(found.between) == pytest.approx(0.1, rel=0.25)


def test_few_launches_are_mixed_with_what_was_assumed_before():
    assert between_of(None) == BETWEEN
    assert between_of(Pilot(within=0.01, between=0.02, slices=1e9, launches=1e9)) == pytest.approx(2.0)
    for few in ({"slices": PRIOR_DEGREES, "launches": 1e9}, {"slices": 1e9, "launches": PRIOR_DEGREES}):
        assert between_of(Pilot(within=0.01, between=0.02, **few)) == pytest.approx(math.sqrt(2 * BETWEEN))
    assert between_of(Pilot(within=0.0, between=0.02, slices=1e9, launches=1e9)) == pytest.approx(FARTHEST)
    assert between_of(Pilot(within=0.02, between=0.0, slices=1e9, launches=1e9)) == pytest.approx(1 / FARTHEST)


def test_two_slices_that_happen_to_be_alike_do_not_end_all_passes():
    lucky = between_of(Pilot(within=1e-4, between=0.01, slices=1, launches=20))
    costs, extent = Costs(launch_s=1.0, warmup_s=0.5, stop_s=0.5), Extent(stacks=2, headline=2)
    assert plan_block(extent, remaining_s=120, done=4, costs=costs, between=lucky).passes >= 2


def test_the_plan_follows_the_pilot():
    """Launches that differ are worth more of them; slices that differ are worth more passes: the pilot's R."""
    costs, extent = Costs(launch_s=2.0, warmup_s=1.0, stop_s=0.0), Extent(stacks=4, headline=4)
    plans = [
        plan_block(extent, remaining_s=900, done=4, costs=costs, fixed_slice_s=1.0, between=between)
        for between in (0.05, 0.25, 1.0, 5.0)
    ]
    passes = [plan.passes for plan in plans]
    assert passes == sorted(passes, reverse=True)
    assert passes[0] > passes[-1]
    assert [plan.blocks_left for plan in plans] == sorted(plan.blocks_left for plan in plans)
    for between, plan in zip((0.25, 1.0), plans[1:3], strict=True):
        wanted = math.sqrt(3.0 / 1.2 / between)  # Kalibera & Jones 2013, section 6.2, where slices vary by 1
        assert abs(plan.passes - wanted) <= 0.5
