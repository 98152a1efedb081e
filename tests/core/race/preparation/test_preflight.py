"""What a race and a load are told before their start."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count, repeat
from types import SimpleNamespace

import pytest

from stackrace.measure.load import Load
from stackrace.measure.probe import network_limits
from stackrace.measure.resources import Resources
from stackrace.race.preparation import preflight
from stackrace.race.preparation.preflight import check_limits, wait_for_ports
from stackrace.validity.preflight import shared_threads

HALVES = Resources(stack_cores=(0,), generator_cores=(1,))


@pytest.mark.parametrize("ours", [True, False])
def test_where_a_server_that_is_not_ours_runs_nobody_knows(monkeypatch, ours):
    monkeypatch.setattr(preflight, "physical_cores", lambda usable: (tuple(sorted(usable)),))
    said = check_limits((Load(concurrency=1),), HALVES, ours=ours)
    assert any(one.check == shared_threads.declaration.id for one in said) is ours


@pytest.mark.parametrize(
    ("reuse", "held", "waited_s"), [(0, (900, 900, 400), 2), (0, (400,), 0), (2, (900,), 0), (0, (), 61)]
)
def test_a_race_waits_for_ports_that_are_held_unless_the_kernel_uses_them_again(monkeypatch, reuse, held, waited_s):
    clock, said = count(), []
    usual = replace(network_limits(), ephemeral_ports=1000, tw_reuse=reuse)
    seen = chain((replace(usual, time_wait=one) for one in held), repeat(replace(usual, time_wait=900)))
    monkeypatch.setattr(preflight, "network_limits", lambda: next(seen))
    # the clock is looked at once before the wait and once after each second of it
    still = SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda seconds: None)
    monkeypatch.setattr(preflight, "time", still)
    assert wait_for_ports(said.append) == waited_s
    assert len(said) == bool(waited_s)
