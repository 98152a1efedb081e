"""The verb: its options, what is said while a check runs, and the chances of a side that is not ready."""

import math
from types import SimpleNamespace

import click
import pytest
from tests.factories import make_failure, make_race
from tests.features.regression.checks import make_check

from stackrace.features.regression import run
from stackrace.features.regression.ruling import CHECKING
from stackrace.features.regression.run import _CheckProgress
from stackrace.features.regression.verb import _read_allowances, _read_variables
from stackrace.measure.launch import FailureKind, Launch
from stackrace.race.events import BlockEnded
from stackrace.race.results.comparison import Response
from stackrace.race.run.ledger import Ledger
from stackrace.race.run.scheduling import FOR_THE_WINNER
from stackrace.race.run.steps import Steps


def allowed(*texts):
    option = click.Option(["--allow"])
    return _read_allowances(click.Context(click.Command("check")), option, texts)


def test_an_allowance_is_a_response_and_a_share():
    assert allowed("cpu 3%", "memory any", "p99=0.1") == {
        Response.CPU: 0.03, Response.MEMORY: None, Response.P99: 0.1,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["cpu", "speed 3%", "cpu fast", "throughput 100%", "3%", ""])
def test_anything_else_is_refused_with_what_may_be_written(text):
    with pytest.raises(click.BadParameter) as refused:
        allowed(text)
    assert "any" in refused.value.message or "write it like" in refused.value.message


def test_variables_have_a_name_and_a_value():
    context, option = click.Context(click.Command("check")), click.Option(["--head-env"])
    assert _read_variables(context, option, ("A=1", "B=a=b", "C=")) == {"A": "1", "B": "a=b", "C": ""}
    with pytest.raises(click.BadParameter, match="NAME=VALUE"):
        _read_variables(context, option, ("A",))


@pytest.fixture
def prepared(monkeypatch):
    """A check within whose progress no time passes."""
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: 100.0))
    return SimpleNamespace(begun_s=100.0, plan=SimpleNamespace(budget_s=600.0))


def test_a_pipe_gets_a_line_now_and_then_and_each_alarm_once(capsys, prepared):
    with _CheckProgress(prepared) as shown:
        for block in range(1, 4):
            shown(BlockEnded(block, make_check(blocks=block, slower=0.06, ending=None)))
        shown(BlockEnded(4, make_check(blocks=4, slower=0.06, ending=None)))
    lines = capsys.readouterr().err.splitlines()
    assert next(line for line in lines if line.startswith("Pair")).startswith("Pair 1: 0 of 6 clear; throughput ")
    assert len([line for line in lines if line.startswith("Pair")]) == 1
    assert [line for line in lines if "throughput seems worse" in line] == [
        "Alarm: throughput seems worse after 3 pairs; racing it again."
    ]


def test_a_side_of_a_check_that_was_not_ready_has_other_chances():
    for scheduling, failures in ((FOR_THE_WINNER, 1), (CHECKING, 4)):
        slow = [FailureKind.NOT_READY] * failures
        assert scheduling.is_given_up(slow)
        assert not scheduling.is_given_up(slow[1:])


@pytest.mark.parametrize("scheduling", [FOR_THE_WINNER, CHECKING])
def test_another_chance_of_a_side_of_a_check_takes_no_longer_than_expected(scheduling):
    ledger = Ledger(make_race(stacks=2, blocks=0, facts=()))
    steps = Steps(
        number=1, machine=None, ledger=ledger, sink=None, start_s=5.0,
        relaunches_failed=scheduling.relaunches_failed,
    )  # fmt: skip
    assert steps._patience_s(SimpleNamespace(path="a")) == math.inf
    ledger.enter(Launch(id="0", block=0, stack="a", failure=make_failure()))
    assert (steps._patience_s(SimpleNamespace(path="a")) == 10.0) is (scheduling is CHECKING)
