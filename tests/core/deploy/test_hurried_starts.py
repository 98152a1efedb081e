"""What is said of a stack whose start the race's budget cut short."""

import os
from types import SimpleNamespace

import pytest

from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.local_place import LocalPlace
from stackrace.measure.launch import FailureKind
from stackrace.measure.resources import Resources

PATIENCE_S = 20.0


def place_of(kind):
    """Return a place whose starts may take ``PATIENCE_S`` and fail as ``kind``."""

    def launch(_stack, *, timeout_s):
        raise LaunchFailed(kind, f"it does not listen after {timeout_s:g} s")

    return LocalPlace(
        guard=SimpleNamespace(pid=os.getpid()),
        launcher=SimpleNamespace(start_timeout_s=PATIENCE_S, launch=launch),
        cores=Resources(stack_cores=(0,), generator_cores=(0,)),
        services=SimpleNamespace(pids={}),
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
    failure = place_of(kind).launch(None, left_s).failure
    assert (failure.kind, failure.message) == (kind, message)
