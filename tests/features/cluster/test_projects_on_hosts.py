"""A user's project on a host: raced where it is the same as here, refused by name where it is not."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from tests.conftest import BRIEF
from tests.features.cluster.racing import FEW_RUNS

APP = """
import sqlite3
from pathlib import Path

import greeting

HERE = Path(__file__).parent

def application(environ, start_response):
    with sqlite3.connect(HERE / "rows.sqlite3") as database:
        (row,) = database.execute("SELECT text FROM rows").fetchone()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{greeting.WORD}, {row}".encode()]
"""

SECRET = "s471105-s"
TELLS = """
import os, sys
if "waitress" in sys.modules:
    raise RuntimeError(os.environ["API_TOKEN"])
"""


def packages(root):
    return next((root / ".venv" / "lib").glob("python3*/site-packages"))


def git(root, *words):
    subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=b", *words], check=True)


@pytest.fixture
def project(tmp_path):
    """A plain WSGI project with an environment of its own, and a database that git ignores."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text(APP)
    (root / ".gitignore").write_text(".venv\n*.sqlite3\n__pycache__\n")
    (root / "race.toml").write_text(f'[app]\nwsgi = "app:application"\nenv = {{ API_TOKEN = "{SECRET}" }}\n')
    with closing(sqlite3.connect(root / "rows.sqlite3")) as database:
        database.executescript("CREATE TABLE rows (text); INSERT INTO rows VALUES ('row');")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "all")
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    (packages(root) / "greeting.py").write_text("WORD = 'hello'\n")
    about = packages(root) / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: greeting\nVersion: 1.0\n")
    return root


@pytest.fixture
def copy(project, tmp_path):
    """The same project where a host has it."""
    return shutil.copytree(project, tmp_path / "there", symlinks=True)


def race(made, project, *flags):
    return made.scheduler.run(
        *map(str, BRIEF), "run", str(project / "race.toml"), "--cluster", made.address,
        "--stack", "gunicorn:workers=1", "--stack", "waitress", "-c", "4", *FEW_RUNS, "--json",
        "--store", f"sqlite:///{made.folder}/races.sqlite3", *flags,
    )  # fmt: skip


def assert_raced(done):
    assert done.returncode in (0, 3), done.stderr
    document = json.loads(done.stdout)
    assert not any(launch["failure"] for launch in document["launches"])
    assert all(slice_["counts"]["ok"] for launch in document["launches"] for slice_ in launch["slices"])


@pytest.mark.exhaustive
def test_a_project_that_is_the_same_on_the_host_is_raced_under_its_path_there(small, project, copy):
    assert_raced(race(small, project))
    elsewhere = race(small, project, "--cluster-project", str(copy))
    assert_raced(elsewhere)
    assert f"The app runs with {copy}/.venv/bin/python" in elsewhere.stdout


@pytest.mark.exhaustive
def test_a_host_that_has_another_project_is_refused_by_name_before_anything_starts(small, project, copy):
    def said():
        done = race(small, project, "--cluster-project", str(copy))
        assert done.returncode == 2, done.stderr
        assert "the machines of the cluster prepare" not in done.stderr
        return done.stderr

    shutil.rmtree(packages(copy) / "greeting-1.0.dist-info")
    assert "host: the app's environment is another: greeting is missing (1.0 here)" in said()
    (copy / "app.py").write_text(APP.replace("200 OK", "404 Nowhere"))
    assert f"host: {copy} is not what {project} is here: it has another app.py; bring the same files" in said()
    git(copy, "commit", "--quiet", "-a", "-m", "another")
    assert f"host: {copy} is at commit " in said()
    shutil.rmtree(copy)
    assert f"host has no folder {copy}; check the project out there" in said()


@pytest.mark.exhaustive
def test_what_an_app_on_a_host_tells_is_shown_without_secrets(small, project):
    (project / "app.py").write_text(APP.replace("\nHERE", TELLS + "\nHERE"))
    told = race(small, project)
    assert "RuntimeError" in told.stdout and "***" in told.stdout, told
    kept = [path.read_bytes().decode("latin-1") for path in small.folder.glob("races.sqlite3*")]
    assert not [text for text in (told.stdout, told.stderr, *kept) if SECRET in text]
