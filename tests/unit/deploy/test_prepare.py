"""Commands that prepare an app."""

import pytest

from stackrace.apps import entry_of
from stackrace.deploy.hosting import prepare
from stackrace.model.app import App, EntryKind
from stackrace.model.errors import AppError
from stackrace.spec.commands import command_of


def prepared(folder, *commands):
    words = tuple(map(command_of, commands))
    prepare(App(name="site", root=folder, entry=entry_of(EntryKind.FILES, "."), prepare=words))


def test_a_script_of_the_project_runs_in_its_folder(tmp_path):
    (tmp_path / "fill.sh").write_text("#!/bin/sh\ncat in | tr a b > out\n")
    (tmp_path / "fill.sh").chmod(0o755)
    (tmp_path / "in").write_text("a")
    prepared(tmp_path, "./fill.sh", {"run": "cat < out > copy", "shell": True})
    assert (tmp_path / "copy").read_text() == "b"


@pytest.mark.parametrize("program", ["fill.sh", "./fill.sh"])
def test_a_script_that_cannot_be_run_is_told_how(tmp_path, program):
    (tmp_path / "fill.sh").write_text("exit 0\n")
    with pytest.raises(AppError, match=r"write \./fill\.sh, and make it executable"):
        prepared(tmp_path, program)


def test_a_failure_shows_the_line_as_it_was_written(tmp_path):
    with pytest.raises(AppError, match=r"prepare: cat < nothing ended with exit code"):
        prepared(tmp_path, {"run": "cat < nothing", "shell": True})
