"""This machine: what is said of a start that was cut short, and how long a slice waits for rest."""

import os
from types import SimpleNamespace

import pytest

from stackrace.deploy import local_machine
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.local_machine import _REST_S, _RESTLESS_S, LocalMachine
from stackrace.measure.launch import FailureKind
from stackrace.measure.resources import Resources


class Spending:
    """Watched stacks that use so much CPU while they are looked at, one look after the other."""

    def __init__(self, *spent_s):
        self.left = list(spent_s)

    def begin(self):
        """Nothing to remember."""

    def spent_s(self):
        return {"stack": self.left.pop(0)}


@pytest.fixture
def here(monkeypatch):
    """A machine without stacks, where time passes in sleeps alone."""
    now = [0.0]
    monkeypatch.setattr(
        local_machine, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda s: now.append(now.pop() + s))
    )
    return LocalMachine(
        guard=SimpleNamespace(pid=os.getpid()),
        launcher=None,
        cores=Resources(stack_cores=(0,), generator_cores=(0,)),
        services={},
        debug=False,
    )


def test_stacks_are_looked_at_until_they_rest_and_not_again_before_they_are_asked(here):
    here._all = stacks = Spending(1.0, 1.0, 0.0, 1.0, 0.0)
    here.rest()
    assert len(stacks.left) == 2
    here.rest()
    assert len(stacks.left) == 2
    # somebody came up, or left: nothing is known of them together
    here._watch_all()
    here._all = stacks
    here.rest()
    assert stacks.left == []


def test_a_stack_that_still_serves_clients_who_have_gone_does_not_rest(here, monkeypatch):
    here._all, left = Spending(0.0, 0.0, 0.0, 1.0), [2, 1, 0]
    here._up["uwsgi"] = SimpleNamespace(running="uwsgi")
    monkeypatch.setattr(local_machine, "abandoned_by_clients", lambda stacks: left.pop(0) if list(stacks) else None)
    monkeypatch.setattr(here, "_update_processes", lambda: None)
    here.rest()
    assert (left, here._at_rest) == ([], True)


def test_a_stack_that_works_for_itself_is_waited_for_once_and_then_for_a_moment(here, monkeypatch):
    waits = []

    def wait(limit_s, quiet):
        waits.append(limit_s)
        return quiet

    for limit_s, quiet in ((2.0, False), (60.0, False), (60.0, False), (0.2, True), (60.0, True)):
        monkeypatch.setattr(here, "_quiet", lambda limit_s, quiet=quiet: wait(limit_s, quiet))
        here.rest(limit_s)
    # what the race's end cuts short says nothing of the stack
    assert waits == [2.0, _REST_S, _RESTLESS_S, 0.2, _REST_S]


PATIENCE_S = 20.0


def machine_of(kind):
    """Return a machine whose starts may take ``PATIENCE_S`` and fail as ``kind``."""

    def launch(_stack, *, timeout_s):
        raise LaunchFailed(kind, f"it does not listen after {timeout_s:g} s")

    return LocalMachine(
        guard=SimpleNamespace(pid=os.getpid()),
        launcher=SimpleNamespace(start_timeout_s=PATIENCE_S, launch=launch),
        cores=Resources(stack_cores=(0,), generator_cores=(0,)),
        services={},
        debug=False,
    )


@pytest.mark.parametrize(
    ("kind", "left_s", "message"),
    [
        (
            FailureKind.NOT_READY,
            6.5,
            "it does not listen after 6.5 s; the budget left no more: give more (--budget)",
        ),
        (FailureKind.NOT_READY, 60.0, "it does not listen after 20 s"),
        (FailureKind.NOT_STARTED, 6.5, "it does not listen after 6.5 s"),
    ],
)
def test_a_start_that_the_budget_cut_short_says_so(kind, left_s, message):
    failure = machine_of(kind).launch(None, left_s).failure
    assert (failure.kind, failure.message) == (kind, message)
