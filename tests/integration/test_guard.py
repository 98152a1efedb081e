"""Nothing outlives Stackrace, however it ends."""

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stackrace.base.errors import BreakdownError, LaunchError
from stackrace.base.files import remove_tree
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.guard import Guard

HOLDER = textwrap.dedent(
    """
    import os, signal, sys, time
    from pathlib import Path
    from stackrace.base.process.view import UNPROTECTED
    from stackrace.deploy.guard import Guard

    guard = Guard()
    start = dict(view=UNPROTECTED, environment=dict(os.environ), folder=Path("/"), stop=signal.SIGTERM)
    daemon = "setsid sh -c 'sleep 1000 & sleep 1000' & sleep 1000"
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
    pids = [
        guard.spawn(["sleep", "1000"], log=guard.directory / "1.log", **start),
        guard.spawn(["sh", "-c", daemon], log=guard.directory / "2.log", **start),
        guard.spawn([sys.executable, "-c", stubborn], log=guard.directory / "3.log", **start),
    ]
    while len(guard.status(pids)[pids[1]].alive) < 4:
        time.sleep(0.01)
    family = {pid for status in guard.status(pids).values() for pid in status.alive}
    print(guard.directory, guard.pid, *family, flush=True)
    time.sleep(1000)
    """
)


def spawn(guard, folder, *words, **further):
    """Start a program below ``guard`` as it is; returns its process."""
    further = {"view": UNPROTECTED, "environment": dict(os.environ), "stop": signal.SIGTERM, **further}
    return guard.spawn(words, folder=folder, log=guard.directory / "log", **further)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pids, directory):
    deadline = time.monotonic() + 1800
    while (any(map(alive, pids)) or directory.exists()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if alive(pid)] == []
    assert not directory.exists()


@pytest.fixture
def holder():
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    directory, *pids = process.stdout.readline().split()
    assert len(pids) >= 6
    yield process, Path(directory), [int(pid) for pid in pids]
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_whatever_ends_stackrace_ends_everything_below_it(holder, number):
    process, directory, pids = holder
    os.kill(process.pid, number)
    process.wait()
    wait_until_gone(pids, directory)


def test_a_killed_supervisor_takes_its_children_along_and_nobody_elses(tmp_path):
    other = subprocess.Popen(["sleep", "1000"])
    guard = Guard()
    pid = spawn(guard, tmp_path, "sleep", "1000")
    os.kill(guard.pid, signal.SIGKILL)
    with pytest.raises(BreakdownError, match="supervisor was killed"):
        while True:
            guard.status([pid])
    guard.close()
    wait_until_gone([pid], guard.directory)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_program_that_does_not_exist_is_an_error_of_that_launch(tmp_path):
    with Guard() as guard, pytest.raises(LaunchError, match="no-such-server"):
        spawn(guard, tmp_path, "no-such-server")


def test_what_the_supervisor_cannot_do_is_an_error_that_says_so():
    with Guard() as guard, pytest.raises(LaunchError, match="cannot status: KeyError"):
        guard.status([1])


def test_cleaners_of_temporary_files_are_kept_off_and_a_directory_that_is_gone_is_named():
    with pytest.raises(BreakdownError, match=r"was removed while it was in use.*set TMPDIR"), Guard() as guard:
        guard.status([])
        folder = os.open(guard.directory, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(folder)
        remove_tree(guard.directory)
        (guard.directory / "l1").mkdir()


class InterruptionError(Exception):
    """Stands for Ctrl-C."""


def test_a_directory_that_a_writer_made_anew_is_gone_all_the_same(tmp_path):
    with pytest.raises(BreakdownError, match="was removed while it was in use"), Guard() as guard:
        guard.directory.rename(tmp_path / "cleared")
        (guard.directory / "hop").mkdir(parents=True)
        guard.status([])
    assert not guard.directory.exists()


def test_signals_at_any_moment_break_no_exchange_with_the_supervisor(tmp_path):
    """Each timer fires somewhere between a question and its answer, or a little before or after."""

    def interrupt(number, frame):
        raise InterruptionError

    before = signal.signal(signal.SIGALRM, interrupt)
    interruptions = 0
    try:
        with Guard() as guard:
            pids = [spawn(guard, tmp_path, "sleep", "1000") for _ in range(2)]
            for turn in range(200):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 1e-5 * (turn + 1))
                    for _ in range(20):
                        for pid in pids:
                            assert guard.status([pid])[pid].alive == (pid,)
                    time.sleep(1)
                except InterruptionError:
                    interruptions += 1
                assert guard.status(pids)[pids[0]].alive == (pids[0],)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interruptions == 200


def test_ctrl_c_that_reaches_the_supervisor_before_it_begins_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("stackrace.deploy.guard._temporary", lambda: str(tmp_path))
    start = subprocess.Popen

    def interrupted(command, **options):
        process = start(
            [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"], **options
        )
        process.wait()
        os.kill(os.getpid(), signal.SIGINT)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Guard()
    assert not list(tmp_path.iterdir())
