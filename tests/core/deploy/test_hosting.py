"""Commands that prepare an app."""

import os
from contextlib import contextmanager, suppress

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.commands import command_of
from stackrace.base.errors import AppError
from stackrace.deploy.guard import Guard
from stackrace.deploy.hosting import prepare


@contextmanager
def prepared(folder, *commands):
    words = tuple(map(command_of, commands))
    with Guard() as guard:
        prepare(App(name="site", root=folder, entry=entry_of(EntryKind.FILES, "."), prepare=words), guard)
        yield


def test_a_script_of_the_project_runs_in_its_folder(tmp_path):
    (tmp_path / "fill.sh").write_text("#!/bin/sh\ncat in | tr a b > out\n")
    (tmp_path / "fill.sh").chmod(0o755)
    (tmp_path / "in").write_text("a")
    with prepared(tmp_path, "./fill.sh", {"run": "cat < out > copy", "shell": True}):
        assert (tmp_path / "copy").read_text() == "b"


@pytest.mark.parametrize("program", ["fill.sh", "./fill.sh"])
def test_a_script_that_cannot_be_run_is_told_how(tmp_path, program):
    (tmp_path / "fill.sh").write_text("exit 0\n")
    with pytest.raises(AppError, match=r"write \./fill\.sh, and make it executable"):
        prepared(tmp_path, program).__enter__()


def test_a_failure_shows_the_line_as_it_was_written(tmp_path):
    with pytest.raises(AppError, match=r"prepare: cat < nothing ended with exit code"):
        prepared(tmp_path, {"run": "cat < nothing", "shell": True}).__enter__()


@pytest.mark.parametrize("code", [0, 1])
def test_what_a_command_leaves_in_the_background_ends_with_the_race_and_with_a_command_that_fails(tmp_path, code):
    note = tmp_path / "pid"
    run = f"setsid sh -c 'echo $$ > {note}; exec sleep 1000' & while [ ! -s {note} ]; do :; done; exit {code}"
    with suppress(AppError), prepared(tmp_path, {"run": run, "shell": True}):
        os.kill(int(note.read_text()), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
