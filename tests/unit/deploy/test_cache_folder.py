"""The cache lies where servers can read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.deploy import environments
from stackrace.deploy.environments import cache_folder


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
