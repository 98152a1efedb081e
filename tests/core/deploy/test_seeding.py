"""Commands that prepare an app, and which are known well enough that their outcome may be kept."""

import os
import shlex
import shutil
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.bundle import bundled, digest
from stackrace.app.command_lines import command_of
from stackrace.base.errors import AppError
from stackrace.deploy.guard import Guard
from stackrace.deploy.seeding import _is_in_project, prepare


@pytest.fixture
def app(tmp_path):
    return bundled().app(python=tmp_path / "bin" / "python", data=tmp_path)


def test_the_bundled_apps_own_preparation_is_known(app):
    assert all(_is_in_project(command, app.root) for command in app.prepare)
    assert _is_in_project(("python", "manage.py", "seed", "browse"), app.root)
    assert _is_in_project(("python", "./manage.py", "seed", "--rows=1000"), app.root)
    assert _is_in_project(("python", "-m", "sample.settings"), app.root)


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "python -m something",
        "python /srv/seed.py",
        "python manage.py loaddata /srv/dump.json",
        "python manage.py loaddata --from=~/dump.json",
        "python manage.py loaddata ../dump.json",
        "python ../django/manage.py migrate",
        "sh -c 'python manage.py loaddata </srv/dump.json' manage.py",
    ],
)
def test_what_reads_other_files_is_prepared_each_time(app, command):
    assert not _is_in_project(shlex.split(command), app.root)


def test_a_users_own_app_has_no_digest(app, tmp_path):
    assert digest(app) is not None
    assert digest(replace(app, root=tmp_path)) is None


def test_every_byte_counts_except_byte_code(app, tmp_path, monkeypatch):
    folder = tmp_path / "copy"
    shutil.copytree(app.root, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("stackrace.app.bundle._OURS", tmp_path)
    before = digest(replace(app, root=folder))
    assert before == digest(replace(app, root=folder))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "manage.pyc").write_bytes(b"byte code")
    assert digest(replace(app, root=folder)) == before
    with (folder / "manage.py").open("a") as file:
        file.write("#")
    assert digest(replace(app, root=folder)) != before


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
