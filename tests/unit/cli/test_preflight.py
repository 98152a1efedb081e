"""What a race and a load are told before their start."""

from __future__ import annotations

import pytest

from stackrace.checks import LOAD, RACE
from stackrace.cli import preflight
from stackrace.cli.preflight import check_limits
from stackrace.model.load import Load
from stackrace.model.race import Budget

HALVES = Budget(stack_cores=(0,), generator_cores=(1,))


@pytest.mark.parametrize(("words", "told"), [(RACE, True), (LOAD, False)])
def test_where_a_server_that_is_not_ours_runs_nobody_knows(monkeypatch, words, told):
    monkeypatch.setattr(preflight, "physical_cores", lambda usable: (tuple(sorted(usable)),))
    said = check_limits((Load(concurrency=1),), HALVES, words=words)
    assert any("threads of one core" in one for one in said) is told
