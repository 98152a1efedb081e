"""Results that a newer Stackrace wrote: refused before anything is started, and left as they were."""

import hashlib
import sqlite3
import sys

import pytest

APP = """
from pathlib import Path

Path(__file__).with_name("was-imported").touch()

def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]
"""


@pytest.fixture
def newer(stackrace, tmp_path):
    """A store with a migration that this version does not know."""
    path = tmp_path / "races.sqlite3"
    made = stackrace("report", "--store", f"sqlite:///{path}", cwd=tmp_path)
    assert made.returncode == 2, made.stderr
    assert path.exists()
    with sqlite3.connect(path) as database:
        database.execute(
            "insert into django_migrations (app, name, applied) values ('stackrace', '9999_later', '2030-01-01')"
        )
    database.close()
    return path


def digest(path):
    with sqlite3.connect(path) as database:
        text = "\n".join(database.iterdump())
    database.close()
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("verb", ["run", "report"])
def test_it_is_refused_with_the_way_out_before_anything_is_started_and_nothing_is_lost(
    stackrace, newer, tmp_path, verb
):
    project = tmp_path / "project"
    project.mkdir()
    (project / "tiny.py").write_text(APP)
    before = digest(newer)
    arguments = {
        "run": ["run", "--wsgi", "tiny:app", "--python", sys.executable, "--stack", "waitress"],
        "report": ["report"],
    }
    done = stackrace(*arguments[verb], "--store", f"sqlite:///{newer}", cwd=project)
    assert done.returncode == 2, done.stderr
    assert "a newer Stackrace has written it (9999_later); upgrade with" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.name for path in project.iterdir()] == ["tiny.py"], "not even the app was asked"
    assert digest(newer) == before
