"""Commands before a race: their last words, and nothing left of them."""

import math
import os
import subprocess
import sys
import time
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.interrupting import interrupt_parent

from stackrace.base.process import commands
from stackrace.base.process.commands import MOST_BYTES, run


def call(*command, timeout_s=math.inf):
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


def test_children_end_with_a_command_that_fails(tmp_path):
    done = call("sh", "-c", "sleep 1000 & echo $!; exit 1")
    assert done.code == 1
    wait_until_gone(int(done.output))


def test_children_end_with_a_command_that_takes_too_long(tmp_path, monkeypatch):
    note = tmp_path / "pid"
    # the time is over once the child is known
    moments = chain([0.0], (float(note.exists() and note.read_text().endswith("\n")) for _ in count()))
    monkeypatch.setattr(commands, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    with pytest.raises(subprocess.TimeoutExpired):
        call("sh", "-c", f"sleep 1000 & echo $! > {note}; sleep 1000", timeout_s=0.5)
    wait_until_gone(int(note.read_text()))


def wait_until_gone(pid):
    while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
        time.sleep(0.01)


def test_an_interruption_before_the_command_is_known_leaves_nothing_of_it(tmp_path):
    pid = tmp_path / "pid"
    command = ("sh", "-c", f"sleep 1000 & echo $! > {pid}; wait")
    with pytest.raises(KeyboardInterrupt):
        run(command, folder=tmp_path, environment=os.environ, begin=interrupt_parent)
    # it was ended before it came so far, or with all that it had started
    if pid.exists():
        wait_until_gone(int(pid.read_text() or 0))
