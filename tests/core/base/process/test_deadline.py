"""What limits other programs is the time that they could run."""

import itertools
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from stackrace.base.process import Deadline, OverdueError, deadline, run, tree

SPINS = "while True: pass"
HELD = f"""
import os, sys
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
{SPINS}
"""
"""Is ready to run all the time, behind all others on its core."""
LIMIT_S = 0.2
SPINNERS = 4


@contextmanager
def busy_core():
    """Return a core with processes that never leave it: whoever comes after them there hardly gets any of it."""
    core = max(os.sched_getaffinity(0))

    def on_it():
        os.sched_setaffinity(0, {core})

    spinners = [subprocess.Popen([sys.executable, "-S", "-c", SPINS], preexec_fn=on_it) for _ in range(SPINNERS)]
    try:
        yield core
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def held_on(core):
    return [sys.executable, "-S", "-c", HELD, str(core)]


def wait_until_held(pid):
    while os.sched_getscheduler(pid) != os.SCHED_IDLE:
        time.sleep(0.01)


@contextmanager
def started(*command):
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def spent_s(limit, elapsed_s):
    """What ``limit`` counts after a while of looking."""
    until = time.monotonic() + elapsed_s
    while time.monotonic() < until:
        assert limit.spent_s <= limit.elapsed_s
        time.sleep(0.02)
    return limit.spent_s


@contextmanager
def waiting_and_sleeping():
    """Limits of one that waits for a core, and of one that sleeps."""
    with busy_core() as core, started(*held_on(core)) as held, started("sleep", "10000") as sleeper:
        wait_until_held(held.pid)
        yield Deadline(LIMIT_S, lambda: [held.pid]), Deadline(LIMIT_S, lambda: [sleeper.pid])


def test_who_waits_for_a_core_is_not_late_while_one_that_sleeps_is():
    with waiting_and_sleeping() as (waits, sleeps):
        while not sleeps.is_over:
            assert not waits.is_over
            time.sleep(0.02)
        # several times the limit of the other, and nothing of this one's
        spent_s(waits, 10 * LIMIT_S)
        assert not waits.is_over
        assert "for a core: this machine is busy" in waits.waiting


def test_waiting_has_an_end_too_and_is_named(monkeypatch):
    monkeypatch.setattr(deadline, "LONGEST_S", 2.0)
    with busy_core() as core, pytest.raises(OverdueError) as raised:
        run(held_on(core), timeout_s=0.1)
    words = str(raised.value)
    assert "does not end after 0.1 s; it has waited " in words
    assert " for a core: this machine is busy" in words


def test_one_that_waits_below_one_that_sleeps_holds_the_time_up():
    with busy_core() as core:
        # ended by its standard input, it ends the one that waits
        script = f"import subprocess, sys; c = subprocess.Popen({held_on(core)!r}); sys.stdin.read(); c.kill()"
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as parent:
            while len(tree(parent.pid)) < 2:
                time.sleep(0.01)
            wait_until_held(max(set(tree(parent.pid)) - {parent.pid}))
            limit = Deadline(LIMIT_S, lambda: tree(parent.pid))
            spent_s(limit, 6 * LIMIT_S)
            is_over = limit.is_over
            parent.stdin.close()
        assert not is_over


@pytest.mark.parametrize("told", [None, b"0 0 0\n"], ids=["no schedstat", "an empty schedstat"])
def test_where_the_kernel_counts_no_waiting_one_that_is_ready_and_does_not_run_waits(monkeypatch, told):
    monkeypatch.setattr(deadline, "read", lambda path: told)
    with waiting_and_sleeping() as (waits, sleeps):
        spent_s(waits, 6 * LIMIT_S)
        assert not waits.is_over
        while not sleeps.is_over:
            time.sleep(0.02)


@pytest.mark.parametrize(("gave_way", "is_over"), [(0, False), (1, True)], ids=["it stayed ready", "it slept"])
def test_one_that_ran_a_moment_between_two_looks_has_waited_for_the_rest(monkeypatch, gave_way, is_over):
    """The kernel counts the wait that goes on only once it has come to an end."""
    looks = itertools.count(1)
    monkeypatch.setattr(deadline, "_cpu_times", lambda pid, thread: (1000 * next(looks), 0, True))
    monkeypatch.setattr(deadline, "_is_ready", lambda pid, thread: True)
    monkeypatch.setattr(deadline, "_sleeps", lambda pid, thread: gave_way * next(looks))
    with started("sleep", "10000") as process:
        limit = Deadline(LIMIT_S, lambda: [process.pid])
        spent_s(limit, 3 * LIMIT_S)
        assert [limit.is_over, limit.is_over] == [False, is_over]


def test_what_is_waited_for_is_looked_at_once_more_before_the_end():
    """Between two looks this process may have stood still for longer than the limit."""
    with started("sleep", "10000") as process:
        limit = Deadline(LIMIT_S, lambda: [process.pid])
        spent_s(limit, 3 * LIMIT_S)
        assert [limit.is_over, limit.is_over] == [False, True]


def test_the_limit_does_not_end_while_one_waits_that_slept_since_the_last_look(monkeypatch):
    """How long it waits the kernel tells once it ran: that it slept before is all there is to see."""
    sleeps = itertools.count(1)
    monkeypatch.setattr(deadline, "_cpu_times", lambda pid, thread: (1000, 0, True))
    monkeypatch.setattr(deadline, "_is_ready", lambda pid, thread: True)
    monkeypatch.setattr(deadline, "_sleeps", lambda pid, thread: next(sleeps))
    with started("sleep", "10000") as process:
        limit = Deadline(LIMIT_S, lambda: [process.pid])
        limit._threads = {(process.pid, str(process.pid)): deadline._ThreadState(999, 0, 0, 0)}
        time.sleep(2 * LIMIT_S)
        assert limit.spent_s > LIMIT_S and not limit.is_over and not limit.is_over


def test_a_wait_is_counted_once_whenever_the_kernel_tells_of_it(monkeypatch):
    told = iter([(1000, 0, True), (1000, 0, True), (2000, int(1e9), True)])
    last = [(2000, int(1e9), True)]
    monkeypatch.setattr(
        deadline, "_cpu_times", lambda pid, thread: last[0] if pid == os.getpid() else next(told, last[0])
    )
    monkeypatch.setattr(deadline, "_is_ready", lambda pid, thread: True)
    with started("sleep", "10000") as process:
        limit = Deadline(1000.0, lambda: [process.pid])
        limit._threads = {
            (process.pid, str(process.pid)): deadline._ThreadState(1000, 0, 0, None),
            (os.getpid(), str(threading.get_native_id())): deadline._ThreadState(2000, int(1e9), 0, None),
        }
        for _ in range(3):
            limit._look()
        assert limit._waited_s == pytest.approx(min(1.0, limit._looked_s - limit._begun_s), abs=0.2)


def test_where_nothing_is_told_of_a_process_only_the_time_on_the_wall_counts(monkeypatch):
    monkeypatch.setattr(deadline, "_tasks", lambda pid: iter(()))
    monkeypatch.setattr(deadline, "LONGEST_S", 3.0)
    limit = Deadline(0.1, lambda: [os.getpid()])
    while not limit.is_over:
        time.sleep(0.02)
    assert limit.elapsed_s >= deadline.LONGEST_S
    assert limit.when == "after 0.1 s"


def test_one_that_is_gone_holds_nothing_up():
    process = subprocess.Popen(["true"])
    process.wait()
    limit = Deadline(0.1, lambda: [process.pid])
    while not limit.is_over:
        time.sleep(0.02)


def test_the_tree_of_a_process_has_all_that_came_out_of_it():
    with started("sh", "-c", "sleep 10000 & sleep 10000 & wait") as shell:
        while len(members := tree(shell.pid)) < 3:
            time.sleep(0.01)
        assert shell.pid in members
        for pid in set(members) - {shell.pid}:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
