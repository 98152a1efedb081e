"""Servers that misbehave, for real: each becomes its stack's result, and nothing is left running."""

import os
import signal

import pytest
from tests.integration.scripted import WORKLOAD, Scripted, here_of, launcher_of, servers_of, serving, stack_of

from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.stopping import stop
from stackrace.model.launch import FailureKind
from stackrace.model.load import Load

SCRIPTS = {
    "good": serving(),
    "half-asleep": serving(
        "answer = Handler.do_GET\nturn = __import__('itertools').count()\n"
        "Handler.do_GET = lambda self: (time.sleep(1000 * (next(turn) > 5)), answer(self))\n"
    ),
    "crashes": "import sys; print('no more cheese', file=sys.stderr); sys.exit(3)",
    "hangs": "import time; time.sleep(1000)",
    "wrong-body": serving(body=b"jello"),
    "wrong-status": serving(status=503),
}
NOT_GOING = {
    "stubborn": serving("signal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    "littering": serving("import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"),
}


SERVERS = servers_of(
    SCRIPTS, **{name: Scripted(name, script, stop_timeout_s=1.0) for name, script in NOT_GOING.items()}
)


@pytest.fixture
def launcher(guard):
    return launcher_of(guard, SERVERS)


def stack(name):
    return stack_of(name, SERVERS)


@pytest.mark.parametrize(
    ("name", "timeout_s", "kind", "words"),
    [
        ("crashes", 60, FailureKind.NOT_STARTED, "exit code 3"),
        ("hangs", 1, FailureKind.NOT_READY, "does not listen"),
        # asked again until the time is over
        ("wrong-body", 8, FailureKind.WRONG_ANSWER, "differs from the app's own"),
        ("wrong-status", 8, FailureKind.WRONG_ANSWER, "status 503"),
    ],
)
def test_a_stack_that_does_not_come_up_says_why_and_leaves_nothing(launcher, guard, name, timeout_s, kind, words):
    with pytest.raises(LaunchFailed) as failed:
        launcher.launch(stack(name), timeout_s=timeout_s)
    assert failed.value.failure.kind is kind
    assert words in failed.value.failure.message
    assert list(guard.directory.glob("l*")) == []


def test_a_crash_at_start_shows_the_servers_own_last_words(launcher):
    with pytest.raises(LaunchFailed) as failed:
        launcher.launch(stack("crashes"))
    assert "no more cheese" in failed.value.failure.log


def test_a_server_that_dies_later_is_noticed(launcher, guard):
    running = launcher.launch(stack("good"))
    assert launcher.failure_of(running) is None
    ((_, pid),) = running.parts
    os.kill(pid, signal.SIGKILL)
    while launcher.failure_of(running) is None:
        pass
    failure = launcher.failure_of(running)
    assert failure.kind is FailureKind.DIED
    assert "SIGKILL" in failure.message
    assert stop(guard, [running]) == {}


@pytest.mark.parametrize(("name", "words"), [("stubborn", "did not end"), ("littering", "left processes behind")])
def test_a_server_that_does_not_go_is_killed_and_named(launcher, guard, name, words):
    running = launcher.launch(stack(name))
    complaints = stop(guard, [running])
    assert complaints[name].kind is FailureKind.NOT_STOPPED
    assert words in complaints[name].message
    ((_, pid),) = running.parts
    assert guard.status([pid])[pid].family == ()
    assert not running.directory.exists()


def test_a_run_against_a_server_that_hangs_is_cut_off_and_accounts_for_every_request(launcher):
    here = here_of(launcher)
    asleep = stack("half-asleep")
    assert here.launch(asleep, 20.0).failure is None
    load = Load(concurrency=2, requests=1000, timeout_s=900.0)
    result = here.load(asleep, WORKLOAD, load, 0.0, 1.0).result
    counts = result.counts
    assert result.duration_s >= 1.0
    assert (counts.ok, counts.errors, counts.in_flight) == (5, 0, 2)
    assert counts.scheduled == counts.ok + counts.in_flight + counts.unsent == 1000
    assert here.retire([asleep]).finish().complaints == {}


def test_several_stacks_run_and_stop_side_by_side(launcher, guard):
    up = [launcher.launch(stack("good")), launcher.launch(stack("good"))]
    assert up[0].port != up[1].port
    assert stop(guard, up) == {}
