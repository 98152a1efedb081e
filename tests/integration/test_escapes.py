"""What an app writes to by a path that only its code knows is named, with the key that protects it."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.writing_site import digest

from stackrace.apps import entry_of
from stackrace.deploy.environments import Environments
from stackrace.deploy.guard import Guard
from stackrace.model.app import EntryKind
from stackrace.model.errors import InputError, LaunchError
from stackrace.setup.examined import examined_app
from stackrace.setup.protected import protected
from stackrace.spec.request import RaceRequest

APP = """
import sqlite3, tempfile

PLACE = "{place}"
held = open(PLACE + "/held.log", "a")
read = open(PLACE + "/read.txt")
temporary = tempfile.NamedTemporaryFile()


def app(environ, start_response):
    connection = sqlite3.connect("file:" + PLACE + "/data.db?mode=rw", uri=True)
    with connection:
        connection.execute("INSERT INTO visit VALUES (1)")
    connection.close()
    with open("own.log", "a") as own:
        own.write("x")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


@pytest.fixture
def site(tmp_path):
    """A project, and beside it a folder that it writes to."""
    place = tmp_path / "var"
    for folder in ("site", "var"):
        (tmp_path / folder).mkdir()
    (place / "read.txt").touch()
    (place / "held.log").touch()
    with closing(sqlite3.connect(place / "data.db")) as connection:
        connection.execute("CREATE TABLE visit (at)")
    (tmp_path / "site" / "shop.py").write_text(APP.format(place=place))
    return tmp_path / "site"


@pytest.fixture(params=[True, False], ids=["covered", "moved"])
def guard(request, guard, monkeypatch):
    def refuse(*_):
        raise LaunchError("Operation not permitted")

    if not request.param:
        monkeypatch.setattr(Guard, "cover", refuse)
    return guard


def examined(guard, folder, **asked):
    request = RaceRequest(
        folder=folder, entry=entry_of(EntryKind.WSGI, "shop:app"), python=Path(sys.executable), **asked
    )
    environments = Environments(guard.directory / "cache", str)
    return examined_app(
        request,
        environments,
        guard.directory / "data",
        {},
        str,
        protecting=lambda app: protected(app, request, guard, {}, str),
    )


def test_what_only_the_code_knows_is_named(guard, site):
    (note,) = (note for note in examined(guard, site).notes if "data.db" in note)
    place = site.parent / "var"
    names = ", ".join(f"{place}/{name}" for name in ("held.log", "data.db"))
    assert note == (
        f"The app writes to {names}, which is not copied, and changes in a race. To have it copied, write "
        f'[app] protect = ["{place}"].'
    )


def test_a_folder_that_is_protected_stays_as_it_is(guard, site):
    before = digest(site.parent)
    notes = examined(guard, site, protect=(site.parent / "var",)).notes
    assert digest(site.parent) == before
    assert not [note for note in notes if "is not copied" in note]
    assert [note for note in notes if note.startswith("The app wrote to a copy of data.db (8 KiB)")]


def test_a_folder_to_protect_that_is_not_there_is_refused(guard, site):
    with pytest.raises(InputError, match=r"\[app\] protect: there is no folder .*/nowhere; name the folder"):
        examined(guard, site, protect=(site / "nowhere",))
