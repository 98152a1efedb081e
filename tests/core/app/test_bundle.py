"""Recordings that come with a bundled app, by the names race files use."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.bundle import bundled, session_file
from stackrace.base.errors import InputError


def test_everything_the_description_names_exists():
    app = bundled()
    assert (app.root / "manage.py").is_file()
    assert all(folder.is_dir() for folder in app.static.values())
    assert set(app.urls) <= set(app.pages)
    for services in ((), ("postgresql",), ("mariadb", "memcached")):
        assert app.requirements(services).is_file()


def test_a_database_brings_its_driver():
    assert "psycopg" in bundled().requirements(["postgresql"]).read_text()
    assert bundled().requirements(["memcached"]) == bundled().root / "requirements.txt"


def test_its_data_lies_where_the_caller_says(tmp_path):
    app = bundled().app(python=Path("python"), data=tmp_path)
    assert app.environment == {"APP_DATA": str(tmp_path)}


spec = spec_from_file_location("sample_database", bundled().root / "sample" / "database.py")
database = module_from_spec(spec)
spec.loader.exec_module(database)

words = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable())


@given(words, words, words, st.one_of(st.none(), st.integers(1, 65535)))
def test_a_url_reads_back(user, password, name, port):
    colon = "" if port is None else f":{port}"
    parts = [quote(word, safe="") for word in (user, password, name)]
    found = database.parse(f"postgresql://{parts[0]}:{parts[1]}@db{colon}/{parts[2]}")
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == (user, password, name)
    assert (found["HOST"], found["PORT"]) == ("db", "" if port is None else str(port))


def test_a_host_may_be_the_folder_of_a_socket():
    assert database.parse("postgresql://u@/pages?host=/run/My")["HOST"] == "/run/My"
    assert database.parse("mysql://u@localhost/pages?unix_socket=/run/My")["HOST"] == "/run/My"
    assert database.parse("postgresql:///pages")["HOST"] == ""


def test_the_url_comes_before_the_folder(tmp_path):
    folder = {"APP_DATA": str(tmp_path)}
    assert database.database(folder)["NAME"] == tmp_path / "pages.sqlite3"
    assert database.database(folder | {"DATABASE_URL": "mysql://u@h/n"})["ENGINE"].endswith("mysql")


@pytest.mark.parametrize("environ", [{}, {"DATABASE_URL": "oracle://u@h/n"}])
def test_nothing_is_guessed(environ):
    with pytest.raises(ImproperlyConfigured):
        database.database(environ)


SESSIONS = {"browse": Path("/apps/browse.har")}


@pytest.mark.parametrize("asked", ["bundled:browse", "/races/bundled:browse"])
def test_a_name_stands_for_its_recording(asked):
    assert session_file(Path(asked), SESSIONS) == Path("/apps/browse.har")


def test_a_file_is_itself():
    assert session_file(Path("/races/browse.har"), SESSIONS) == Path("/races/browse.har")


@pytest.mark.parametrize(("sessions", "said"), [(SESSIONS, "known are browse"), ({}, "known are none")])
def test_an_unknown_name_lists_the_known_ones(sessions, said):
    with pytest.raises(InputError, match=said):
        session_file(Path("/races/bundled:brows"), sessions)
