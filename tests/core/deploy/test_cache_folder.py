"""The cache lies where servers can read it, and nobody else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stackrace.deploy import environments, privileges
from stackrace.deploy.environments import cache_folder
from stackrace.deploy.privileges import private_folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("as_another", [True, False])
def test_roots_closed_home_is_no_place_for_what_another_user_serves(home, monkeypatch, as_another):
    monkeypatch.setattr(environments, "serves_as_another", lambda: as_another)
    home.chmod(0o700)
    assert cache_folder() == (Path("/var/cache/stackrace") if as_another else home / ".cache/stackrace")


def test_a_folder_that_the_user_names_is_taken(home, monkeypatch):
    monkeypatch.setattr(environments, "serves_as_another", lambda: True)
    monkeypatch.setenv("XDG_CACHE_HOME", "/srv/cache")
    assert cache_folder() == Path("/srv/cache/stackrace")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_below_ours_is_its_owners_and_so_is_what_was_open(tmp_path):
    (tmp_path / "stackrace/cache/stackrace/pycache").mkdir(parents=True)
    for each in ("stackrace", "stackrace/cache", "stackrace/cache/stackrace", "stackrace/cache/stackrace/pycache"):
        (tmp_path / each).chmod(0o755)
    ours = tmp_path / "stackrace/cache/stackrace"
    private_folder(ours / "pycache")
    private_folder(ours / "races/one")
    assert {mode(each) for each in (ours, ours / "pycache", ours / "races", ours / "races/one")} == {0o700}
    # of the user's folders none is ours, whatever it is called
    assert {mode(ours.parent), mode(ours.parent.parent)} == {0o755}
    private_folder(ours)
    assert mode(ours.parent) == 0o755


def test_another_user_that_serves_gets_through_to_what_is_served(tmp_path, monkeypatch):
    monkeypatch.setattr(privileges, "serves_as_another", lambda: True)
    let_in = []
    monkeypatch.setattr(privileges, "let_in", let_in.append)
    ours = tmp_path / "stackrace"
    private_folder(ours / "environments", served=True)
    private_folder(ours / "services")
    assert let_in == [ours / "environments", ours, ours]
