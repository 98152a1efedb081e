"""Questions to programs: each has its limit, whatever the program does, and who does not answer is named."""

import os
import subprocess

import pytest

from stackrace.base import errors
from stackrace.base.process import ask, commands

HANGING = {
    "sleeps": "sleep 100000",
    "closes its output and lives": "exec >&- 2>&-; sleep 100000",
    "ignores signals": "trap '' TERM INT HUP; while :; do sleep 1; done",
    "prints without end": "while :; do echo 1.2.3; done",
    "is stopped": "kill -STOP $$",
}
ENDING = {
    "leaves a daemon with its output": "echo 1.2.3; sleep 100000 &",
    "leaves a daemon in a session of its own": "echo 1.2.3; setsid sleep 100000 &",
    "reads its input": "cat; echo 1.2.3",
    "reads the terminal": "cat /dev/tty 2>/dev/null; echo 1.2.3",
}


@pytest.fixture
def program(request, tmp_path, monkeypatch):
    """A program on PATH that does what the test names."""
    path = tmp_path / "oracle"
    path.write_text(f"#!/bin/sh\n{({**HANGING, **ENDING})[request.param]}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(errors, "UNANSWERED", commands.UNANSWERED)
    commands.UNANSWERED.clear()
    yield path
    commands.UNANSWERED.clear()
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, timeout=1800).stdout
    assert not left


@pytest.mark.parametrize("program", HANGING, indirect=True)
def test_a_program_that_does_not_end_is_ended_named_and_not_asked_again(program, monkeypatch):
    monkeypatch.setattr(commands, "QUESTION_S", 0.5)
    assert ask(["oracle", "-v"]).code == -1
    said = commands.UNANSWERED[str(program)]
    # between them a busy machine is named
    assert said.startswith(f"oracle -v ({program}) did not end within 0.5 s; ")
    assert said.endswith("; end it or take it off PATH")
    program.write_text("#!/bin/sh\ntouch $0.again\n")
    assert ask([str(program), "--other"]).code == -1
    assert not program.with_name("oracle.again").exists()


@pytest.mark.parametrize("program", ENDING, indirect=True)
def test_an_answer_is_taken_whatever_else_the_program_leaves_or_reads(program, monkeypatch):
    monkeypatch.setattr(commands, "QUESTION_S", 600.0)
    assert ask(["oracle"]) == commands.CommandResult(0, "1.2.3")
    assert not commands.UNANSWERED


@pytest.mark.parametrize("program", ["reads its input"], indirect=True)
def test_a_program_that_cannot_be_started_is_named(program):
    program.write_text("no program")
    assert ask([str(program)]).code == -1
    assert {str(program): f"oracle ({program}) cannot be started: Exec format error"} == commands.UNANSWERED
