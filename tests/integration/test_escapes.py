"""What an app writes to by a path that only its code knows is named, with the key that protects it."""

from __future__ import annotations

import sqlite3
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from tests.writing_site import digest

from stackrace.app.app import EntryKind, entry_of
from stackrace.base.errors import InputError, LaunchError
from stackrace.deploy.environments import Environments
from stackrace.deploy.guard import Guard
from stackrace.deploy.preparing import Step
from stackrace.race.preparation.app_examination import examined_app
from stackrace.race.preparation.chosen_app import asked_app, protected_project
from stackrace.race.request.request import RaceRequest

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


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch):
    """Leave the folder for temporary files, where these projects are, as any other is."""
    for module in ("protection", "project_copy"):
        monkeypatch.setattr(f"stackrace.deploy.{module}.surroundings", lambda **_: ())


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


@pytest.fixture(params=[True, False], ids=["covered", "copied"])
def guard(request, guard, monkeypatch):
    def refuse(*_):
        raise LaunchError("Operation not permitted")

    if not request.param:
        monkeypatch.setattr(Guard, "cover", refuse)
    return guard


where_covered = pytest.mark.parametrize("guard", [True], indirect=True, ids=["covered"])


def way_out(guard, place):
    """Return what a note on ``place`` ends with: a copy of the project moves no whole path."""
    if guard.view.pid is None:
        return ": its code knows this path from elsewhere. Lead it to another by a variable, [app] env."
    return f'. To have it copied, write [app] protect = ["{place}"].'


SHOP = entry_of(EntryKind.WSGI, "shop:app")


def examined(guard, folder, entry=SHOP, heard=str, **asked):
    request = RaceRequest(folder=folder, entry=entry, python=Path(sys.executable), **asked)
    environments, asked = Environments(guard.directory / "cache", str), asked_app(request)
    project = protected_project(request, asked, guard, heard)
    return examined_app(request, asked, environments, project, guard.directory / "data", {}, heard, str)


def test_what_only_the_code_knows_is_named(guard, site):
    (note,) = (note for note in examined(guard, site).notes if "data.db" in note)
    place = site.parent / "var"
    names = ", ".join(f"{place}/{name}" for name in ("held.log", "data.db"))
    told = f"The app writes to {names}, which is not copied, and changes in a race"
    assert note == f"{told}{way_out(guard, place)}"


def test_a_folder_that_is_protected_stays_as_it_is(guard, site):
    (site / "shop.py").write_text(APP.format(place="../var"))
    before = digest(site.parent)
    notes = examined(guard, site, protect=(site.parent / "var",)).notes
    assert digest(site.parent) == before
    assert not [note for note in notes if "is not copied" in note]
    assert [note for note in notes if note.startswith("The app wrote to a copy of data.db (8 KiB)")]


@pytest.mark.parametrize("guard", [False], indirect=True, ids=["copied"])
def test_a_folder_that_is_protected_and_named_by_its_whole_path_is_refused_where_it_cannot_be_covered(guard, site):
    before = digest(site.parent)
    with pytest.raises(
        InputError, match=r"the app writes to .*/var \(shop\.py\), which is not copied and may change"
    ):
        examined(guard, site, protect=(site.parent / "var",))
    assert digest(site.parent) == before


@where_covered
@pytest.mark.parametrize("is_shared", [False, True])
def test_the_line_that_is_printed_protects_what_was_seen(guard, site, is_shared):
    """In a folder of everybody's, as /tmp, the files themselves are named."""
    place = site.parent / "var"
    code = APP.format(place=place)
    for name in ("held.log", "read.txt", "data.db"):
        code = code.replace(f'PLACE + "/{name}', f'"{place}/{name}').replace(f'" + "{place}', str(place))
    (site / "shop.py").write_text(code)
    place.chmod(0o1777 if is_shared else 0o755)
    (note,) = (note for note in examined(guard, site).notes if "To have it copied" in note)
    line = note.partition("write [app] ")[2].removesuffix(".")
    named = tuple(map(Path, tomllib.loads(line)["protect"]))
    assert named == ((place / "data.db", place / "held.log") if is_shared else (place,))
    before = digest(place)
    with Guard() as another:
        notes = examined(another, site, protect=named).notes
    assert digest(place) == before
    assert not [note for note in notes if "is not copied" in note]


def test_what_to_protect_may_be_made_by_the_app_but_not_where_no_folder_is(guard, site):
    with pytest.raises(InputError, match=r"\[app\] protect: .*/nowhere/file is no file and no folder"):
        examined(guard, site, protect=(site / "nowhere" / "file",))
    with Guard() as another:
        examined(another, site, protect=(site.parent / "made-later",))


def test_what_may_change_is_said_before_anything_is_raced(guard, site):
    heard = []
    notes = examined(
        guard, site, heard=heard.append, environment={"DATABASE_URL": "mysql://db.example.com/shop"}
    ).notes
    said = [preparing.subject for preparing in heard if preparing.step is Step.CHANGES]
    assert ["mysql database shop" in said[0], "data.db" in said[1]] == [True, True]
    assert not set(said) - set(notes)
    steps = [preparing.step for preparing in heard]
    assert steps.index(Step.CHANGES) < steps.index(Step.ANSWERS)


LINKING = """
import os, sqlite3, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
left = tempfile.mkstemp()


def app(environ, start_response):
    connection = sqlite3.connect(HERE + "/linked.db")
    with connection:
        connection.execute("INSERT INTO visit VALUES (1)")
    connection.close()
    with open(HERE + "/media/upload.txt", "a") as upload:
        upload.write("x")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


def link(site):
    """Let the project have its data behind links."""
    (site.parent / "media").mkdir()
    (site / "linked.db").symlink_to(site.parent / "var" / "data.db")
    (site / "media").symlink_to("../media")


def test_what_links_of_the_project_lead_to_stays_as_it_is(guard, site):
    (site / "shop.py").write_text(LINKING)
    link(site)
    before = digest(site.parent)
    notes = examined(guard, site).notes
    assert digest(site.parent) == before
    assert not [note for note in notes if "is not copied" in note]
    assert [note for note in notes if note.startswith("The app wrote to a copy of data.db (8 KiB)")]


def test_what_is_left_in_the_folder_for_temporary_files_goes_with_the_race(guard, site, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (site / "shop.py").write_text(LINKING)
    link(site)
    examined(guard, site)
    assert not list((tmp_path / "tmp").iterdir())


SETTINGS = """
from pathlib import Path

BASE = Path(__file__).resolve().parent
SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE / "linked.db"}}
MEDIA_ROOT = BASE / "media"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": BASE.parent / "var" / "new" / "deep",
    }
}
"""

URLS = """
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.http import HttpResponse
from django.urls import path


def page(request):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO visit VALUES (1)")
    default_storage.save("upload.txt", ContentFile(b"x"))
    cache.set("visit", 1)
    return HttpResponse("hello")


urlpatterns = [path("", page)]
"""


def test_djangos_linked_database_and_media_and_a_folder_that_it_makes_stay_as_they_are(guard, site):
    (site / "settings.py").write_text(SETTINGS)
    (site / "urls.py").write_text(URLS)
    link(site)
    before = digest(site.parent)
    notes = examined(guard, site, entry_of(EntryKind.DJANGO, "settings")).notes
    assert digest(site.parent) == before
    assert not [note for note in notes if "is not copied" in note]


REMOVING = """
import os, py_compile, tempfile

PLACE = "{place}"
for number in range(60):
    # as a first race does for each module, and a cache of files for each entry
    py_compile.compile(__file__, PLACE + f"/code/shop-{{number}}.pyc")
    open(PLACE + f"/code/{{number}}.cached", "w").close()
with open(PLACE + "/lock", "w") as lock:
    os.remove(lock.name)
os.remove(PLACE + "/read.txt")
os.rename(PLACE + "/held.log", PLACE + "/held.log.1")


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


@where_covered
def test_what_is_removed_is_named_and_many_files_of_one_folder_hide_no_other(guard, site):
    place = site.parent / "var"
    (place / "code").mkdir()
    (site / "shop.py").write_text(REMOVING.format(place=place))
    (note,) = (note for note in examined(guard, site, urls=("/",)).notes if "is not copied" in note)
    names = ", ".join(f"{place}/{name}" for name in ("read.txt", "held.log", "code/0.cached"))
    assert note.startswith(f"The app writes to {names}, ")
    assert " and 8 more, which is not copied" in note
    assert note.endswith(way_out(guard, place))
