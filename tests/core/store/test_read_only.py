"""A store that may only be read is read, untouched, and says so to whoever writes; what is written is private."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tests.factories import make_race

from stackrace.base.errors import StoreError
from stackrace.store import database, open_store


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with one race, as another user left it."""
    path = tmp_path / "races"
    with open_store(f"sqlite:///{path}") as store:
        store.begin(make_race())
    # another name, for a connection of its own
    moved = tmp_path / "moved"
    path.rename(moved)
    return moved


@pytest.fixture
def read_only(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # root may write everywhere
    monkeypatch.setattr(database.os, "access", lambda path, how: False)
    return kept


def test_a_read_only_store_is_read_and_stays_as_it_is(read_only: Path) -> None:
    before = read_only.stat().st_mtime_ns, sorted(read_only.parent.iterdir())
    with open_store(f"sqlite:///{read_only}") as store:
        assert store.load(make_race().id) == make_race()
        assert store.list(5)[0].id == make_race().id
    assert (read_only.stat().st_mtime_ns, sorted(read_only.parent.iterdir())) == before


def test_whoever_would_write_is_told_that_it_is_read_only(read_only: Path) -> None:
    with open_store(f"sqlite:///{read_only}") as store:
        with pytest.raises(StoreError, match="read-only; make it and its folder writable, or name another"):
            store.need_writable()
        with pytest.raises(StoreError, match="may not be written"):
            store.name(make_race().id, "before-upgrade")


def test_a_folder_of_another_user_is_named_as_such(kept: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    kept.rename(closed / "races")
    closed.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(StoreError, match="another user's, who alone may read it; start as that user"):
            open_store(f"sqlite:///{closed / 'races'}")
    finally:
        os.seteuid(user)
        closed.chmod(0o700)


def test_one_without_tables_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "empty"
    path.touch()
    monkeypatch.setattr(database.os, "access", lambda path, how: False)
    with pytest.raises(StoreError, match="it is empty, and read-only: no tables can be made"):
        open_store(f"sqlite:///{path}")


def test_what_a_store_is_made_of_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with open_store(f"sqlite:///{tmp_path}/races") as store:
            store.begin(make_race())
            assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_the_usual_store_becomes_private_whoever_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("STACKRACE_STORE", raising=False)
    (tmp_path / "stackrace").mkdir()
    path = tmp_path / "stackrace" / "races.sqlite3"
    path.touch(0o644)
    open_store().close()
    assert mode_of(path) == 0o600
