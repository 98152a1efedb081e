"""What is measured runs at a priority that others cannot share; the user's session gets its own back."""

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import wraps
from pathlib import Path

import pytest

from stackrace.base.process import run
from stackrace.base.process.priority import NICE, autogroup, can_raise, raised
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.guard import Guard

pytestmark = pytest.mark.skipif(not can_raise(), reason="needs the right to raise priorities")

KILLED = """
import os, signal
from stackrace.deploy.guard import Guard
with Guard() as guard:
    guard.prioritise(None)
    print(flush=True)
    signal.pause()
"""


ONE_BY_ONE = """
import os, subprocess
from stackrace.base.process import run
from stackrace.base.process.priority import autogroup, raise_process
sleeps = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(3)]
for sleep in sleeps:
    raise_process(sleep.pid)
print(*(autogroup(sleep.pid)[1] for sleep in sleeps))
for sleep in sleeps:
    sleep.kill()
    sleep.wait()
"""
"""Raises the sessions of three programs at once."""


def nice_of(pid):
    return os.getpriority(os.PRIO_PROCESS, pid)


def alone(test):
    """Run a test in a session of its own: races of other tests raise that of all tests."""
    call = f"from tests.integration.test_priority import {test.__name__} as test; test.__wrapped__()"

    @wraps(test)
    def run():
        done = subprocess.run(
            [sys.executable, "-c", call], cwd=Path(__file__).parents[2], start_new_session=True,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    return run


@alone
def test_all_that_is_spawned_is_raised_with_its_session_and_so_are_we():
    usual = nice_of(0), autogroup(os.getpid())
    with Guard() as guard, tempfile.TemporaryDirectory() as folder:
        waits = {
            "view": UNPROTECTED,
            "environment": dict(os.environ),
            "folder": Path(folder),
            "log": Path(folder, "log"),
            "stop": signal.SIGTERM,
        }
        before = guard.spawn(["sleep", "600"], **waits)
        guard.prioritise(None)
        after = guard.spawn(["sleep", "600"], **waits)
        guard.pin(before, sorted(os.sched_getaffinity(0)))
        for pid in (before, after, os.getpid()):
            assert nice_of(pid) == NICE
            assert autogroup(pid)[1] in (NICE, None)
    assert (nice_of(0), autogroup(os.getpid())) == usual


@alone
def test_a_command_that_is_run_meanwhile_has_our_priority_with_its_session():
    asked = "import os; print(os.getpriority(os.PRIO_PROCESS, 0), open('/proc/self/autogroup').read().split()[-1])"
    with raised():
        said = run([sys.executable, "-c", asked], timeout_s=math.inf).output
        # its session is raised once it has begun
        while said.split() != [str(NICE)] * 2 and autogroup(os.getpid())[1] is not None:
            said = run([sys.executable, "-c", f"import time; time.sleep(1); {asked}"], timeout_s=math.inf).output
    assert said.split()[0] == str(NICE) or "No such file" in said


def test_a_session_gets_its_priority_back_when_its_race_is_killed():
    # a shell as the user's terminal has it, whose session outlives the race
    shell = subprocess.Popen(
        ["sh", "-c", '"$@" & wait; echo ended; read line', "sh", sys.executable, "-c", KILLED],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip
    usual = autogroup(shell.pid)[1]
    assert shell.stdout.readline() == "\n"
    assert autogroup(shell.pid)[1] in (NICE, None)
    (race,) = map(int, subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(shell.pid)], text=True).split())
    os.kill(race, signal.SIGKILL)
    assert shell.stdout.readline() == "ended\n"
    while autogroup(shell.pid)[1] != usual:
        time.sleep(0.05)
    shell.communicate("\n")


@alone
def test_who_is_raised_already_is_left_so():
    usual = nice_of(0)
    with raised(), raised():
        assert nice_of(0) == NICE
    assert nice_of(0) == usual


@alone
def test_a_race_that_began_beside_another_leaves_no_session_raised():
    first, second = raised(), raised()
    first.__enter__()
    # another process of the same session: it has the usual priority itself
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert autogroup(os.getpid())[1] in (0, None)


def test_every_session_is_raised_where_the_kernel_takes_few_at_a_time():
    """As it does without CAP_SYS_ADMIN. Source: proc_sched_autogroup_set_nice, kernel/sched/autogroup.c."""
    unprivileged = [] if os.geteuid() else ["setpriv", "--bounding-set=-sys_admin"]
    done = subprocess.run([*unprivileged, sys.executable, "-c", ONE_BY_ONE], capture_output=True, text=True)
    assert done.stdout.split() in ([str(NICE)] * 3, ["None"] * 3), done.stderr
