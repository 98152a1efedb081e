"""A project that hosts do not have: it is sent, raced there, and sent no second time."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from tests.cluster.racing import FEW_RUNS
from tests.conftest import BRIEF

from stackrace.base.process import uv_program

UV = uv_program()

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


@pytest.fixture
def project(tmp_path):
    """A plain WSGI project with an environment of its own, and a database that git ignores."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text(APP)
    (root / ".gitignore").write_text(".venv\n*.sqlite3\n")
    (root / "race.toml").write_text(f'[app]\nwsgi = "app:application"\nenv = {{ API_TOKEN = "{SECRET}" }}\n')
    with closing(sqlite3.connect(root / "rows.sqlite3")) as database:
        database.executescript("CREATE TABLE rows (text); INSERT INTO rows VALUES ('travelled');")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    packages = next((root / ".venv" / "lib").glob("python3*/site-packages"))
    (packages / "greeting.py").write_text("WORD = 'hello'\n")
    return root


@pytest.fixture
def apart(small):
    """A scheduler, an engine, and a host that is to have another home, in which the project's folder is empty."""
    small.end(small.host)
    yield small
    small.end(small.host)


def wheels():
    """Return the folder of what was installed here before, as hosts reach no network."""
    said = subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


def host(made, project, home, size):
    """Let a host join whose project's folder is hidden, and whose home has that size."""
    home.mkdir()
    hide = f'mount -t tmpfs none "{project}" && mount -t tmpfs -o size={size} none "{home}" && exec "$@"'
    elsewhere = (f"HOME={home}", f"XDG_CACHE_HOME={home}/.cache", f"UV_CACHE_DIR={wheels()}", "UV_OFFLINE=1")
    within = ("unshare", "-m", "sh", "-c", hide, "sh", "env", *elsewhere)
    made.worker(made.host, made.address, "stack", within)
    made.joined(made.scheduler, made.address, 3)


def race(made, project):
    return made.scheduler.run(
        *map(str, BRIEF), "run", str(project / "race.toml"), "--cluster", made.address,
        "--stack", "gunicorn:workers=1", "--stack", "waitress", "-c", "4", *FEW_RUNS, "--json",
        "--store", f"sqlite:///{made.folder}/races.sqlite3",
    )  # fmt: skip


def test_a_project_is_raced_where_it_does_not_lie_and_sent_once(apart, project, tmp_path):
    host(apart, project, tmp_path / "home", "500m")
    first = race(apart, project)
    assert first.returncode in (0, 3), first.stderr
    assert "sending project" in first.stderr
    assert "environment" in first.stderr
    document = json.loads(first.stdout)
    assert not any(launch["failure"] for launch in document["launches"])
    assert all(slice_["counts"]["ok"] for launch in document["launches"] for slice_ in launch["slices"])
    assert "/shipped/" not in first.stdout + first.stderr
    assert f"The app runs with {project}/.venv/bin/python" in first.stdout
    second = race(apart, project)
    assert second.returncode in (0, 3), second.stderr
    assert "sending" not in second.stderr
    (project / "app.py").write_text(APP.replace("200 OK", "404 Nowhere"))
    third = race(apart, project)
    assert "sending project" in third.stderr
    assert "environment" not in third.stderr.partition("sending")[2].partition("\n")[0]
    assert third.returncode == 2
    assert "404" in third.stderr
    (project / "app.py").write_text(APP.replace("\nHERE", TELLS + "\nHERE"))
    told = race(apart, project)
    assert "RuntimeError" in told.stdout and "***" in told.stdout, told
    kept = [path.read_bytes().decode("latin-1") for path in apart.folder.glob("races.sqlite3*")]
    assert not [text for text in (told.stdout, told.stderr, *kept) if SECRET in text]
    (project / "media").symlink_to("/srv/media")
    stray = race(apart, project)
    assert stray.returncode == 2
    assert f"{project}/media leads out of the project, to /srv/media" in stray.stderr


def test_a_full_disk_is_named_before_anything_is_sent(apart, project, tmp_path):
    host(apart, project, tmp_path / "home", "100k")
    full = race(apart, project)
    assert full.returncode == 2
    assert "host: there is no room for the project" in full.stderr
    assert "sending" not in full.stderr
