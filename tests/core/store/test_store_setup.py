"""Opening a store: where it is, and what can be wrong with it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.store import open_store
from stackrace.store.database import _WAYS_OUT


def python(script, **environment):
    """Run ``script`` in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_room_does_not_import_django():
    assert python("import stackrace.store, sys; print('django' in sys.modules)") == "False"


def test_the_default_is_made_in_the_users_data_folder_whatever_his_django_settings(tmp_path):
    script = "from stackrace.store import open_store; print(open_store().address)"
    environment = {"XDG_DATA_HOME": f"{tmp_path}/data", "DJANGO_SETTINGS_MODULE": "absent", "STACKRACE_STORE": ""}
    path = tmp_path / "data" / "stackrace" / "races.sqlite3"
    assert python(script, **environment) == str(path)
    assert path.exists()
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_two_stores_can_be_open_at_once(tmp_path, writer):
    race_id = ids.generate()
    with open_store(str(tmp_path / "a")) as one, open_store(str(tmp_path / "b")) as other:
        one.begin(writer.make_race(race_id))
        assert one.latest() == race_id
        assert other.latest() is None


def test_opening_again_keeps_everything(url, writer):
    race_id = ids.generate()
    with open_store(url) as store:
        store.begin(writer.make_race(race_id))
    with open_store(url) as store:
        assert store.load(race_id) == writer.make_race(race_id)


def test_readers_never_wait_and_commits_survive_the_process(store):
    from django.db import connections

    with connections[store.alias].cursor() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA synchronous").fetchone() == (1,)
        assert cursor.execute("PRAGMA foreign_keys").fetchone() == (1,)
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (30_000,)


def test_the_migrations_make_exactly_the_models(store):
    from django.apps import apps
    from django.db import connections
    from django.db.migrations.autodetector import MigrationAutodetector
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.state import ProjectState

    loader = MigrationLoader(connections[store.alias])
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    assert detector.changes(graph=loader.graph) == {}


def test_tables_are_made_entirely_or_not_at_all(tmp_path, url, monkeypatch):
    open_store(f"sqlite:///{tmp_path}/other.sqlite3").close()  # Django is set up
    with monkeypatch.context() as broken:
        broken.setattr("stackrace.store.triggers._GUARDED", ())
        broken.setattr("stackrace.store.triggers._id_triggers", lambda _: iter([None]))
        with pytest.raises(AttributeError):
            open_store(url)
    with open_store(url) as store:
        assert store.latest() is None


@pytest.mark.parametrize("alone", [True, False])
def test_a_store_of_another_version_is_refused_and_stays_as_it_is(tmp_path, url, alone):
    open_store(url).close()
    with closing(sqlite3.connect(tmp_path / "races.sqlite3")) as database, database:
        if alone:
            database.execute("DELETE FROM django_migrations")
        database.execute("INSERT INTO django_migrations VALUES (NULL, 'stackrace', '9999_later', '2030-01-01')")
        before = list(database.iterdump())
    with pytest.raises(StoreError, match=r"newer Stackrace has written it \(9999_later\).*upgrade"):
        open_store(url)
    with closing(sqlite3.connect(tmp_path / "races.sqlite3")) as database:
        assert list(database.iterdump()) == before


def test_a_database_that_has_other_tables_is_left_with_them(tmp_path, url):
    with closing(sqlite3.connect(tmp_path / "races.sqlite3")) as database, database:
        database.execute("CREATE TABLE mine (x)")
    with open_store(url) as store:
        assert store.latest() is None
    with closing(sqlite3.connect(tmp_path / "races.sqlite3")) as database:
        assert database.execute("SELECT count(*) FROM mine").fetchone() == (0,)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt: it is no SQLite database.*STACKRACE_STORE"):
        open_store(str(path))
    assert path.read_text() == "not a database " * 100


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(str(tmp_path))


def test_a_default_folder_that_cannot_be_made_is_explained(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("STACKRACE_STORE", raising=False)
    with pytest.raises(StoreError, match=r"folder cannot be made \(Not a directory\).*STACKRACE_STORE"):
        open_store()


def test_a_mistyped_folder_is_not_made(tmp_path):
    with pytest.raises(StoreError, match="there is no folder"):
        open_store(f"sqlite:///{tmp_path}/absent/races.sqlite3")
    assert not (tmp_path / "absent").exists()


def test_a_full_disk_is_explained_and_what_was_stored_stays(store, writer):
    from django.db import connections

    race_id, launch_id = ids.generate(), ids.generate()
    store.begin(writer.make_race(race_id))
    store.add_launch(race_id, writer.make_launch(launch_id))
    with connections[store.alias].cursor() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + 4}")
    stored = 0
    with pytest.raises(StoreError, match="disk is full"):
        for stored in range(1000):
            store.add_slice(launch_id, writer.make_slice(stored))
    assert len(store.load(race_id).launches[0].slices) == stored > 0


def test_a_missing_driver_is_named_with_its_installation():
    script = """
import sys
sys.modules["psycopg"] = sys.modules["psycopg2"] = None
from stackrace.base.errors import StoreError
from stackrace.measure.load import Load
from stackrace.store import open_store
from stackrace.store.address import SqliteFile
try:
    open_store("postgresql://127.0.0.1/races")
except StoreError as error:
    print(error)
"""
    assert "pip install 'psycopg[binary]'" in python(script)


def test_every_way_out_can_be_reached():
    for fragment, way_out in _WAYS_OUT.items():
        first = next(other for other in _WAYS_OUT if other in f"the driver says: {fragment}")
        assert _WAYS_OUT[first] == way_out


def test_a_damaged_store_is_explained(url, writer):
    with open_store(url) as store:
        for _ in range(50):
            store.begin(writer.make_race(ids.generate()))
    path = Path(url.removeprefix("sqlite:///"))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreError, match="damaged"):
        open_store(url).list(100)


def test_an_altered_document_is_explained(store, writer):
    from django.db import connections

    race_id = ids.generate()
    store.begin(writer.make_race(race_id))
    for altered in ("{}", "no json"):
        with connections[store.alias].cursor() as cursor:
            cursor.execute("UPDATE stackrace_race SET document = %s", [altered])
        with pytest.raises(StoreError, match=f"race {race_id} was altered"):
            store.load(race_id)
        assert [summary.id for summary in store.list(1)] == [race_id]
