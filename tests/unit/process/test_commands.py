"""Commands before a race: their last words, and nothing left of them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackrace.process.commands import MOST_BYTES, run


def call(*command, timeout_s=60.0):
    return run(command, folder=Path("/"), environment=os.environ, timeout_s=timeout_s)


def test_both_streams_are_kept():
    done = call("sh", "-c", "echo out; echo wrong >&2; exit 3")
    assert done.code == 3
    assert done.output.split() == ["out", "wrong"]


def test_only_the_last_of_a_long_output_is_kept():
    done = call(sys.executable, "-c", "print('x' * 3_000_000); print('the end')")
    assert done.code == 0
    assert len(done.output) <= MOST_BYTES
    assert done.output.endswith("the end")


def test_output_that_is_no_text_does_no_harm():
    assert call("printf", r"\377\376").output


def test_a_missing_program_is_an_os_error():
    with pytest.raises(OSError, match="no-such-program"):
        call("no-such-program")


def test_a_child_that_keeps_the_output_open_is_not_waited_for():
    assert call("sh", "-c", "sleep 1000 &").code == 0


@pytest.mark.parametrize("end", ["exit 1", "sleep 1000"], ids=["failed", "late"])
def test_children_end_with_a_command_that_fails_or_takes_too_long(tmp_path, end):
    note = tmp_path / "pid"
    try:
        call("sh", "-c", f"sleep 1000 & echo $! > {note}; {end}", timeout_s=5.0 if end != "exit 1" else 60.0)
    except subprocess.TimeoutExpired:
        assert end != "exit 1"
    wait_until_gone(int(note.read_text()))


def wait_until_gone(pid):
    while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
        time.sleep(0.01)


def test_an_interruption_before_the_command_is_known_leaves_nothing_of_it(tmp_path):
    def interrupt():
        # in the new process, while its parent waits for it within Popen
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.2)

    pid = tmp_path / "pid"
    command = ("sh", "-c", f"sleep 1000 & echo $! > {pid}; wait")
    with pytest.raises(KeyboardInterrupt):
        run(command, folder=tmp_path, environment=os.environ, timeout_s=60, begin=interrupt)
    # it was ended before it came so far, or with all that it had started
    if pid.exists():
        wait_until_gone(int(pid.read_text() or 0))
