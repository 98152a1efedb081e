"""Commands that run to their end, and that nothing of them is left."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.interrupting import interrupt_parent

from stackrace.base.process import attended, deadline, run, within
from stackrace.base.process.commands import _MOST_BYTES


def call(*command, timeout_s=math.inf):
    return run(command, folder=Path("/"), environment=os.environ, timeout_s=timeout_s)


def test_both_streams_are_kept():
    done = call("sh", "-c", "echo out; echo wrong >&2; exit 3")
    assert done.code == 3
    assert done.output.split() == ["out", "wrong"]


def test_only_the_last_of_a_long_output_is_kept():
    done = call(sys.executable, "-c", "print('x' * 3_000_000); print('the end')")
    assert done.code == 0
    assert len(done.output) <= _MOST_BYTES
    assert done.output.endswith("the end")


def test_output_that_is_no_text_does_no_harm():
    assert call("printf", r"\377\376").output


def test_a_missing_program_is_an_os_error():
    with pytest.raises(OSError, match="no-such-program"):
        call("no-such-program")


def test_a_child_that_keeps_the_output_open_is_not_waited_for():
    assert call("sh", "-c", "sleep 1000 &").code == 0


def test_children_end_with_a_command_that_fails(tmp_path):
    done = call("sh", "-c", "sleep 1000 & echo $!; exit 1")
    assert done.code == 1
    wait_until_gone(int(done.output))


def test_children_end_with_a_command_that_takes_too_long(tmp_path, monkeypatch):
    note = tmp_path / "pid"

    # the time is over once the child is known
    def now():
        return time.monotonic() * (10_000 if note.exists() and note.read_text().endswith("\n") else 1)

    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=now, sleep=time.sleep))
    with pytest.raises(subprocess.TimeoutExpired):
        call("sh", "-c", f"sleep 1000 & echo $! > {note}; sleep 1000", timeout_s=1800)
    wait_until_gone(int(note.read_text()))


def wait_until_gone(pid):
    while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
        time.sleep(0.01)


def test_an_interruption_before_the_command_is_known_leaves_nothing_of_it(tmp_path):
    pid = tmp_path / "pid"
    command = ("sh", "-c", f"sleep 1000 & echo $! > {pid}; wait")
    with pytest.raises(KeyboardInterrupt):
        run(command, folder=tmp_path, environment=os.environ, timeout_s=1800, begin=interrupt_parent)
    # it was ended before it came so far, or with all that it had started
    if pid.exists():
        wait_until_gone(int(pid.read_text() or 0))


def test_the_exit_code_is_returned():
    assert attended(["sh", "-c", "exit 3"], within(60)) == 3


def test_a_process_that_takes_too_long_is_ended():
    pids = []

    def attend(process):
        pids.append(process.pid)
        return within(0)(process)

    assert attended(["sleep", "1000"], attend) is None
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_an_interruption_while_it_is_waited_for_ends_it():
    pids = []

    def attend(process):
        pids.append(process.pid)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        attended(["sleep", "1000"], attend)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interruption_while_it_is_being_ended_waits_until_it_has():
    pids = []

    def attend(process):
        pids.append(process.pid)
        wait = process.wait
        process.wait = lambda timeout_s: (signal.raise_signal(signal.SIGINT), wait(timeout_s))[1]
        raise RuntimeError

    with pytest.raises(KeyboardInterrupt):
        attended(["sleep", "1000"], attend)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


DAEMON = "setsid sh -c 'echo $$ > {note}; exec sleep 1000' & while [ ! -s {note} ]; do :; done"
"""Out of its parent's session and process group, as daemons are."""


@pytest.mark.parametrize("end", ["exit 0", "exit 1", "kill -9 $$", "sleep 1000"])
def test_a_daemon_that_it_started_ends_with_it(tmp_path, end):
    note = tmp_path / "pid"

    def attend(process):
        while not note.exists() or not note.read_text():
            time.sleep(0.01)
        return within(0 if end == "sleep 1000" else 60)(process)

    code = attended(["sh", "-c", f"{DAEMON.format(note=note)}; {end}"], attend)
    assert code == {"exit 0": 0, "exit 1": 1, "kill -9 $$": -9, "sleep 1000": None}[end]
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_daemon_that_it_started_ends_when_we_are_killed(tmp_path):
    note = tmp_path / "pid"
    command = ["sh", "-c", f"{DAEMON.format(note=note)}; sleep 1000"]
    ours = f"from stackrace.base.process import attended, within; attended({command}, within(1000))"
    process = subprocess.Popen([sys.executable, "-c", ours])
    while not note.exists() or not note.read_text():
        time.sleep(0.01)
    process.kill()
    process.wait()
    while Path(f"/proc/{note.read_text().strip()}").exists():
        time.sleep(0.01)


def test_it_is_told_nothing_of_the_signals_that_we_were_started_with():
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    handler = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        result = run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], timeout_s=1800)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGUSR2, handler)
    # the C library has two more for itself
    every = sum(1 << (number - 1) for number in signal.valid_signals())
    assert {int(line.split()[1], 16) & every for line in result.output.splitlines()} == {0}


def test_it_may_use_descriptors_and_a_large_environment(tmp_path):
    (tmp_path / "said").touch()
    large = {"PATH": os.environ["PATH"]} | {f"LARGE{number}": "x" * 100_000 for number in range(3)}
    with (tmp_path / "said").open("wb") as said:
        command = [sys.executable, "-c", f"import os; os.write({said.fileno()}, os.environb[b'LARGE2'])"]
        assert attended(command, within(60), environment=large, pass_fds=[said.fileno()]) == 0
    assert len((tmp_path / "said").read_text()) == 100_000
