"""Incidents: something happens to a real stack under load, and each request has its fate."""

import math
import os
import signal
import time

import pytest
from tests.integration.scripted import HALF_ASLEEP, WORKLOAD, here_of, launcher_of, servers_of, serving, stack_of

from stackrace.base.errors import LaunchError
from stackrace.measure.launch import FailureKind
from stackrace.measure.load import Load
from stackrace.report.words.load_sentences import losses

SERVERS = servers_of(
    {
        "good": serving(),
        "forking": serving(
            "import ctypes\n"
            "for _ in range(2):\n"
            "    if os.fork() == 0:\n"
            "        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # with its parent\n"
            "        break\n"
        ),
        "half-asleep": HALF_ASLEEP,
    }
)
ENDLESS = Load(concurrency=2, duration_s=1800.0, keep_alive=False)


@pytest.fixture
def loaded(guard):
    """A machine where a stack is up, by its name, with a function that loads it."""
    machine = here_of(launcher_of(guard, SERVERS))
    up = []

    def load(name, load, meanwhile):
        stack = stack_of(name, SERVERS)
        if not up:
            assert machine.launch(stack, 1800.0).failure is None
            up.append(stack)
        return machine.load(stack, WORKLOAD, load, 0.0, meanwhile=meanwhile)

    load.machine, load.up = machine, up
    yield load
    assert machine.retire(up).finish().complaints == {}


def test_a_worker_is_killed_and_the_load_ends_with_the_incident(loaded):
    seen = []

    def kill(stack):
        while stack.right == 0:
            time.sleep(0.01)
        (before,) = stack.processes
        os.kill(min(before.workers), signal.SIGKILL)
        while stack.processes == (before,):
            time.sleep(0.01)
        seen.extend((before, *stack.processes))

    result = loaded("forking", ENDLESS, kill).result
    before, now = seen
    assert (before.hop, before.code, len(before.workers)) == ("forking", None, 2)
    assert (now.first, now.code, now.workers) == (before.first, None, before.workers - {min(before.workers)})
    assert 0 < result.counts.ok <= result.counts.scheduled
    assert result.duration_s < ENDLESS.duration_s


def test_clients_are_seen_and_lost_requests_counted_by_kind(loaded):
    held = []

    def end(stack):
        while stack.right < 5:
            time.sleep(0.01)
        held.extend(stack.clients)
        (process,) = stack.processes
        os.kill(process.first, signal.SIGKILL)
        assert stack.engine.wait(math.inf)
        assert stack.processes[0].code == -signal.SIGKILL

    result = loaded("half-asleep", Load(concurrency=2, requests=50, keep_alive=False, timeout_s=900.0), end).result
    counts = result.counts
    assert len(held) == 2
    assert (counts.ok, counts.errors, counts.in_flight, counts.unsent) == (5, 45, 0, 0)
    # while a process ends, its socket may still take connections, which are reset then
    connecting, reading = counts.failed["connect"], counts.failed["read"]
    assert connecting + reading == 45 and connecting and reading >= 2
    assert losses(WORKLOAD.answers, result) == f"{connecting} at connecting, {reading} at reading the answer"
    assert loaded.machine.failure_of(*loaded.up).kind is FailureKind.DIED


def test_an_error_ends_the_load_and_reaches_who_asked_for_it(loaded):
    def fail(_):
        raise LaunchError("no such worker")

    with pytest.raises(LaunchError, match="no such worker"):
        loaded("good", ENDLESS, fail)
    # nothing is left of it
    load = Load(concurrency=1, requests=20)
    assert loaded("good", load, None).result.counts.ok == 20
