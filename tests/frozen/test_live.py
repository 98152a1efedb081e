"""What is told while races, checks and tunings go on is as it was, where stderr is no terminal."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.frozen import product
from tests.frozen.golden import assert_golden
from tests.unit.race.simulated import plan_for

RACES = [*product.recorded("race-"), *product.recorded("tuning")]


class Clock:
    """Time that goes on by some seconds with every event."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def told(sink, race, monkeypatch, capsys):
    """Return what ``sink`` tells of ``race``."""
    monkeypatch.setattr(time, "monotonic", clock := Clock())
    capsys.readouterr()
    with sink:
        for event in product.blocks_of(race):
            clock.now += 3.0
            sink(event)
    return capsys.readouterr().err


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_told_as_it_was(name, monkeypatch, capsys):
    race = product.race(name)
    plan = replace(plan_for(race.stacks, repeats=race.repeats, budget_s=race.budget_s or None), loads=race.loads)
    assert_golden(f"{name}/live.txt", told(product.live(plan), race, monkeypatch, capsys))


@pytest.mark.parametrize("name", product.recorded("check-"))
def test_a_check_is_told_as_it_was(name, monkeypatch, capsys):
    race = product.race(name)
    sink = product.live_check(SimpleNamespace(budget_s=race.budget_s))
    assert_golden(f"{name}/live.txt", told(sink, race, monkeypatch, capsys))
