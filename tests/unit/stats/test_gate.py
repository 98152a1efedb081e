"""Alarms, their confirmation by fresh blocks alone, and what could have been missed."""

import math

import numpy as np
import pytest

from stackrace.stats.gate import ALARM, CONFIRM, LOOKS, MISS, MISS_BEFORE, Stage, blocks_needed, watched

STEADY = [0.001, -0.001, 0.002, -0.002, 0.0015, -0.0015, 0.001, -0.001]


def seen(differences, *, allowance=0.01, family=6, ended=False, **more):
    return watched(differences, allowance=allowance, family=family, ended=ended, **more)


def test_what_does_not_differ_raises_no_alarm_and_its_upper_limit_falls():
    early, late = seen(STEADY[:4]), seen(STEADY * 4)
    assert early.stage is late.stage is Stage.WATCHED
    assert early.alarm is late.alarm is None
    assert late.high < early.high < math.inf


def test_an_alarm_needs_fresh_blocks_to_be_confirmed():
    slower = [value + 0.05 for value in STEADY]
    alarmed = seen(slower[:4])
    assert (alarmed.stage, alarmed.alarm, alarmed.blocks) == (Stage.ALARMED, 3, 1)
    confirmed = seen(slower)
    assert (confirmed.stage, confirmed.alarm, confirmed.blocks) == (Stage.CONFIRMED, 3, 3)
    assert confirmed.low > 0.01


def test_what_raised_the_alarm_does_not_confirm_it():
    slower = [value + 0.05 for value in STEADY[:3]]
    later = seen([*slower, *STEADY, *STEADY])
    assert (later.stage, later.alarm, later.blocks) == (Stage.ALARMED, 3, 16)
    assert later.mean == pytest.approx(0.0, abs=1e-3)
    assert later.high < 0.01


def test_what_is_within_the_allowance_is_no_alarm():
    assert seen([value + 0.009 for value in STEADY * 4]).stage is Stage.WATCHED


def test_better_is_no_alarm():
    better = seen([value - 0.2 for value in STEADY * 4])
    assert better.stage is Stage.WATCHED
    assert better.high < 0


def test_the_last_look_raises_no_alarm_but_narrows_what_could_have_been_missed():
    values = [value + 0.05 for value in STEADY[:3]]
    going, over = seen(values, allowance=0.04), seen(values, allowance=0.04, ended=True)
    assert going.stage is over.stage is Stage.WATCHED
    assert over.high < going.high


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_few_blocks_say_nothing(count):
    some = seen([0.5] * count, ended=True)
    assert (some.stage, some.high, some.blocks) == (Stage.WATCHED, math.inf, count)


def test_what_zero_errors_leave_possible_widens_the_upper_limit():
    assert seen([0.0] * 6).high == 0
    assert seen([0.0] * 6, requests=[50] * 6).high == pytest.approx(-math.log(MISS_BEFORE) / 300)


def test_after_an_alarm_only_requests_since_then_rule_errors_out():
    later = seen([0.05, 0.06, 0.05, *[0.0] * 6], allowance=0.001, requests=[100_000] * 3 + [50] * 6)
    assert (later.alarm, later.blocks) == (3, 6)
    assert later.high == pytest.approx(-math.log(MISS - MISS_BEFORE) / 300)


def test_errors_of_a_few_launches_are_not_trimmed_away():
    often = [0.0, 0.0, 0.5, 0.0, 0.0, 0.0] * 4
    found = seen(often, allowance=0.001, requests=[500] * 24)
    assert found.mean == pytest.approx(0.5 / 6)
    assert found.high > 0.1
    assert seen(often, allowance=0.001).mean == 0, "what trimming would make of it"


def test_one_hit_launch_of_twelve_is_trimmed_away():
    values = [*STEADY, *STEADY[:4]]
    hit = [*values[:-1], 0.4]
    assert seen(hit).mean == pytest.approx(seen(values).mean, abs=2e-3)


def test_a_tighter_limit_needs_more_blocks_and_one_that_is_exceeded_any_number():
    noisy = np.array([0.03, -0.03] * 10)
    few = seen(noisy[:4])
    assert needed(few, 0.015) > needed(few, 0.03) > 0
    assert needed(seen(noisy + 0.03), 0.02) is None


def test_an_alarm_needs_a_few_fresh_blocks():
    slower = [value + 0.05 for value in STEADY]
    assert needed(seen(slower[:3]), 0.04) == 3
    assert needed(seen(slower[:5]), 0.04) == 1


def needed(found, limit):
    return blocks_needed(found, limit=limit, allowance=0.01)


def rates(shift, allowance, checks=1500, blocks=LOOKS[9]):
    dice = np.random.default_rng(3)
    all_seen = [seen(dice.normal(shift, 0.03, blocks), allowance=allowance, family=1) for _ in range(checks)]
    alarms = sum(each.alarm is not None for each in all_seen) / checks
    confirmed = sum(each.stage is Stage.CONFIRMED for each in all_seen) / checks
    return alarms, confirmed


def test_on_the_edge_of_the_allowance_errors_are_as_rare_as_promised():
    alarms, confirmed = rates(0.01, 0.01)
    assert 0.3 * ALARM < alarms < ALARM
    assert confirmed < 1.5 * ALARM * CONFIRM


def test_the_upper_limits_of_all_looks_hold_together():
    dice = np.random.default_rng(4)
    runs = [seen(dice.normal(0.05, 0.03, 31), allowance=9.0, ended=True) for _ in range(1500)]
    assert sum(each.high < 0.05 for each in runs) / 1500 < 1.3 * MISS


def test_an_alarm_is_no_second_chance_to_be_called_clear():
    dice = np.random.default_rng(5)
    runs = [seen(dice.normal(0.04, 0.06, 47), family=1, ended=True) for _ in range(1500)]
    assert sum(each.alarm is not None for each in runs) > 100
    assert sum(each.high < 0.04 for each in runs) / 1500 < MISS
