"""A store in a temporary folder, and arbitrary races to put into it."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.core.store.arbitrary import RACE, with_fresh_ids

from stackrace.store import open_store

WRITER = Path(__file__).with_name("writer.py")


@pytest.fixture(scope="session")
def races():
    """A strategy of races with ids never used before."""
    return RACE.map(with_fresh_ids)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/races.sqlite3"


@pytest.fixture
def store(url, new_store):
    shutil.copy(new_store, url.removeprefix("sqlite:///"))
    with open_store(url) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory, new_store):
    """One store for all examples of a property."""
    path = shutil.copy(new_store, tmp_path_factory.mktemp("store"))
    with open_store(f"sqlite:///{path}") as opened:
        yield opened


@pytest.fixture(scope="session")
def writer():
    """The module ``writer.py``, whose path a test can also run as a process."""
    return SimpleNamespace(**runpy.run_path(str(WRITER)), path=WRITER)
