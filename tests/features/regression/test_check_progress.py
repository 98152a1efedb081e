"""What is said while a check runs."""

from types import SimpleNamespace

import pytest
from tests.factories import make_failure
from tests.features.regression.checks import make_check

from stackrace.features.regression.cli import run
from stackrace.features.regression.cli.run import CheckProgress
from stackrace.measure.launch import Launch
from stackrace.race.events import BlockEnded, LaunchEnded


@pytest.fixture
def prepared(monkeypatch):
    """A check within whose progress no time passes."""
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: 100.0))
    return SimpleNamespace(begun_s=100.0, plan=SimpleNamespace(budget_s=600.0))


def test_a_pipe_gets_a_line_now_and_then_and_each_alarm_once(capsys, prepared):
    with CheckProgress(prepared) as shown:
        for block in range(1, 4):
            shown(BlockEnded(block, make_check(blocks=block, slower=0.06, ending=None)))
        shown(BlockEnded(4, make_check(blocks=4, slower=0.06, ending=None)))
    lines = capsys.readouterr().err.splitlines()
    assert next(line for line in lines if line.startswith("Pair")).startswith("Pair 1: 0 of 6 clear; throughput ")
    assert len([line for line in lines if line.startswith("Pair")]) == 1
    assert [line for line in lines if "throughput seems worse" in line] == [
        "Alarm: throughput seems worse after 3 pairs; racing it again."
    ]


def test_a_side_that_does_not_start_is_said(capsys, prepared):
    failed = Launch(id="x", block=0, stack="gunicorn#head", failure=make_failure())
    with CheckProgress(prepared) as shown:
        shown(LaunchEnded(failed))
    assert "gunicorn#head never became ready" in capsys.readouterr().err
