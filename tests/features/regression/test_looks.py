"""Alarms, their confirmation by fresh blocks alone, and what could have been missed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackrace.features.regression.responses import Shares
from stackrace.race.judge.looks import _ALARM, _CONFIRM, _MISS, _MISS_BEFORE, LOOKS, _values_needed, watched
from stackrace.race.judge.samples import Values
from stackrace.race.results.comparison import Response, State, Terms

STEADY = [0.001, -0.001, 0.002, -0.002, 0.0015, -0.0015, 0.001, -0.001]


def sample_of(differences, requests=None):
    head = np.asarray(differences, dtype=float)
    if requests is None:
        return Values(response=Response.CPU, base=np.ones(len(head)), head=np.exp(head))
    return Shares(response=Response.ERRORS, base=np.zeros(len(head)), head=head, requests=requests)


def seen(differences, *, allowance=0.01, limit=0.04, family=6, ended=False, requests=None):
    """What is seen of ``differences``; the terms are in their unit."""
    sample = sample_of(differences, requests)
    terms = Terms(allowance=sample.share(allowance), limit=sample.share(limit))
    return watched(sample, terms, family=family, ended=ended)


def rests_on(found):
    return found.figures.first, found.figures.last


@pytest.mark.parametrize("shift", [0.0, 0.009, -0.2])
def test_what_is_within_the_allowance_or_better_raises_no_alarm_and_its_upper_limit_falls(shift):
    early, late = (seen([value + shift for value in STEADY[:4] * times]) for times in (1, 8))
    assert early.alarm is late.alarm is None
    assert late.figures.high < early.figures.high < math.inf


@pytest.mark.parametrize(
    ("blocks", "state", "figures_of"),
    [(3, State.ALARM, (0, 3)), (4, State.ALARM, (3, 4)), (8, State.SLOWER, (3, 6))],
)
def test_an_alarm_needs_fresh_blocks_to_be_confirmed_and_until_then_has_its_own_figures(blocks, state, figures_of):
    found = seen([value + 0.05 for value in STEADY[:blocks]])
    assert (found.state, found.alarm, rests_on(found)) == (state, 3, figures_of)
    assert found.figures.low > 0.01 or blocks == 4


def test_what_raised_the_alarm_does_not_confirm_it():
    slower = [value + 0.05 for value in STEADY[:3]]
    later = seen([*slower, *STEADY, *STEADY])
    assert (later.state, later.alarm, rests_on(later)) == (State.CLEAR, 3, (3, 19))
    assert later.figures.value == pytest.approx(0.0, abs=1e-3)
    assert later.figures.high < 0.01


def test_the_last_look_raises_no_alarm_but_narrows_what_could_have_been_missed():
    values = [value + 0.05 for value in STEADY[:3]]
    going, over = seen(values, allowance=0.04), seen(values, allowance=0.04, ended=True)
    assert going.alarm is over.alarm is None
    assert over.figures.high < going.figures.high


@pytest.mark.parametrize(("count", "state"), [(0, State.UNKNOWN), (1, State.OPEN), (2, State.OPEN)])
def test_a_few_blocks_say_nothing(count, state):
    some = seen([0.5] * count, ended=True)
    assert (some.state, some.alarm) == (state, None)
    assert count == 0 or (some.figures.value, some.figures.high) == (pytest.approx(0.5), math.inf)


@settings(max_examples=200)
@given(st.lists(st.floats(-0.3, 0.3), min_size=3, max_size=40), st.booleans())
def test_an_estimate_lies_within_its_limits(values, ended):
    """Looks are many, and limits of one go with no other's estimate: 24 % is not "0.2 % to 19 %"."""
    figures = seen(values, ended=ended).figures
    assert figures.low <= figures.value <= figures.high


def test_what_later_blocks_contradict_is_clear_no_more():
    assert seen(STEADY[:4]).state is State.CLEAR
    found = seen([*STEADY[:4], 0.3, -0.3, 0.3, 0.3])
    assert (found.state, found.figures.last) == (State.OPEN, 8)


def test_what_zero_errors_leave_possible_widens_the_upper_limit():
    assert seen([0.0] * 6).figures.high == 0
    assert seen([0.0] * 6, requests=[50] * 6).figures.high == pytest.approx(-math.log(_MISS_BEFORE) / 300)


def test_after_an_alarm_only_requests_since_then_rule_errors_out():
    later = seen([0.05, 0.06, 0.05, *[0.0] * 6], allowance=0.001, requests=[100_000] * 3 + [50] * 6)
    assert (later.alarm, rests_on(later)) == (3, (3, 9))
    assert later.figures.high == pytest.approx(-math.log(_MISS - _MISS_BEFORE) / 300)


def test_errors_of_a_few_launches_are_not_trimmed_away():
    often = [0.0, 0.0, 0.5, 0.0, 0.0, 0.0] * 4
    found = seen(often, allowance=0.001, requests=[500] * 24)
    assert found.figures.value == pytest.approx(0.5 / 6, abs=0.02)
    assert found.figures.high > 0.1
    assert seen(often, allowance=0.001).figures.value == 0, "what trimming would make of it"


def test_one_hit_launch_of_twelve_is_trimmed_away():
    values = [*STEADY, *STEADY[:4]]
    hit = [*values[:-1], 0.4]
    sides = [seen(each, ended=True).figures.value for each in (hit, values)]
    assert sides[0] == pytest.approx(sides[1], abs=2e-3)


def needed(differences, limit=0.04, alarm=None):
    sample = sample_of(differences)
    return _values_needed(sample, Terms(allowance=sample.share(0.01), limit=sample.share(limit)), alarm, family=6)


def test_a_tighter_limit_needs_more_blocks():
    noisy = [0.03, -0.03] * 2
    assert needed(noisy, limit=0.015) > needed(noisy, limit=0.03) > 0


def test_what_will_be_slower_for_sure_needs_an_alarm_and_its_confirmation():
    noisy = [0.01, 0.06] * 2
    assert needed(noisy, limit=0.02) > needed([value + 0.1 for value in noisy], limit=0.02) > LOOKS[0]


def test_an_alarm_needs_a_few_fresh_blocks():
    slower = [value + 0.05 for value in STEADY]
    assert needed(slower[:3], alarm=3) == 3
    assert needed(slower[:5], alarm=3) == 1


@pytest.mark.parametrize("count", [0, 1])
def test_without_a_spread_as_many_blocks_are_needed_as_most_checks_make(count):
    assert needed([0.5] * count) == LOOKS[6] - count


def test_so_many_more_blocks_do_decide_it_where_they_are_alike():
    values = [0.045, -0.035, 0.025, -0.015] * 2
    more = needed(values)
    assert seen(values * (more // 16), ended=True).state is not State.CLEAR
    assert seen(values * (2 + more // 8), ended=True).state is State.CLEAR


def rates(shift, allowance, checks=1500, blocks=LOOKS[9]):
    dice = np.random.default_rng(3)
    all_seen = [seen(dice.normal(shift, 0.03, blocks), allowance=allowance, family=1) for _ in range(checks)]
    alarms = sum(each.alarm is not None for each in all_seen) / checks
    confirmed = sum(each.state is State.SLOWER for each in all_seen) / checks
    return alarms, confirmed


def test_on_the_edge_of_the_allowance_errors_are_as_rare_as_promised():
    alarms, confirmed = rates(0.01, 0.01)
    assert 0.3 * _ALARM < alarms < _ALARM
    assert confirmed < 1.5 * _ALARM * _CONFIRM


@pytest.mark.exhaustive
def test_the_upper_limits_of_all_looks_hold_together():
    dice = np.random.default_rng(4)
    runs = [seen(dice.normal(0.05, 0.03, 31), allowance=9.0, limit=0.05, ended=True) for _ in range(1500)]
    assert sum(each.state is State.CLEAR for each in runs) / 1500 < 1.3 * _MISS


@pytest.mark.exhaustive
def test_an_alarm_is_no_second_chance_to_be_called_clear():
    dice = np.random.default_rng(5)
    runs = [seen(dice.normal(0.04, 0.06, 47), family=1, ended=True) for _ in range(1500)]
    assert sum(each.alarm is not None for each in runs) > 100
    assert sum(each.state is State.CLEAR for each in runs) / 1500 < _MISS
