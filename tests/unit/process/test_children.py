"""Processes that end before their caller goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackrace.base.process import attended, run, within


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
        result = run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])
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
        assert attended(command, within(60), environment=large, kept_open=[said.fileno()]) == 0
    assert len((tmp_path / "said").read_text()) == 100_000
