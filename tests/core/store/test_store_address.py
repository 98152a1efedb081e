"""A store's URL as a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.base.errors import StoreError
from stackrace.store.address import PostgresqlDatabase, SqliteFile, address_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:////var/races.sqlite3", Path("/var/races.sqlite3")),
        ("sqlite:////var/my%20races", Path("/var/my races")),
        ("sqlite:///races.sqlite3", Path.cwd() / "races.sqlite3"),
        ("/var/races.sqlite3", Path("/var/races.sqlite3")),
        ("~/races.sqlite3", Path.home() / "races.sqlite3"),
    ],
)
def test_a_file_is_named_by_url_or_path(url, path):
    assert address_of(url) == SqliteFile(path=path)


def test_a_server_is_named_with_everything_percent_encoded():
    assert address_of("postgresql://an%40a:s%3Ae@db.example:5433/races?sslmode=require") == PostgresqlDatabase(
        name="races", user="an@a", password="s:e", host="db.example", port=5433, options=(("sslmode", "require"),)
    )


def test_a_socket_folder_is_a_host():
    address = address_of("postgres://ana@/races?host=/run/pg")
    assert address == PostgresqlDatabase(name="races", user="ana", host="/run/pg")


@pytest.mark.parametrize(
    "url", ["postgresql://ana:secret@db:1/races", "postgresql://ana:secret@/races?host=/run/pg"]
)
def test_a_password_is_never_shown(url):
    assert "secret" not in str(address_of(url))
    assert "secret" not in repr(address_of(url))


@pytest.mark.parametrize(
    "url", ["mysql://db/races", "sqlite://", "sqlite:///", "postgresql://db", "postgresql://db:x/races"]
)
def test_other_urls_are_refused_with_an_example(url):
    with pytest.raises(StoreError, match=r"sqlite:////var/lib/races\.sqlite3"):
        address_of(url)


def test_the_argument_comes_before_the_environment_and_that_before_the_default(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.delenv("STACKRACE_STORE", raising=False)
    assert str(address_of()) == "/data/stackrace/races.sqlite3"
    monkeypatch.setenv("STACKRACE_STORE", "/environment")
    assert str(address_of()) == "/environment"
    assert str(address_of("/argument")) == "/argument"


def test_a_relative_data_home_is_ignored(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    monkeypatch.delenv("STACKRACE_STORE", raising=False)
    assert str(address_of()) == str(Path.home() / ".local/share/stackrace/races.sqlite3")
