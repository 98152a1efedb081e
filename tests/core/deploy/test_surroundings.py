"""Which folders around a project stay as they are, what a private home shows, and which memory is named."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from stackrace.base.process.view import ProtectedView, Relocation
from stackrace.deploy import surroundings as module
from stackrace.deploy.surroundings import SharedMemory, private_home, surroundings


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's home, with a project in it."""
    home = tmp_path / "home"
    for name in (".config/editor", ".cache/fonts", ".local/share/keys", "code/project", "pictures"):
        (home / name).mkdir(parents=True)
    (home / ".profile").write_text("mine")
    (home / ".local/bin").mkdir()
    with (home / "large").open("wb") as large:
        large.truncate(1 << 20)
    monkeypatch.setenv("HOME", str(home))
    for name in module._USER_FOLDERS:
        monkeypatch.delenv(name, raising=False)
    return home


def test_the_home_and_shared_folders_and_where_variables_lead_are_surroundings(home, tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = set(surroundings(memory=True))
    assert {home, tmp_path / "cache", Path("/tmp").resolve(), Path("/dev/shm").resolve()} <= found
    assert Path("/dev/shm").resolve() not in set(surroundings(memory=False))


@pytest.mark.parametrize("name", ["/", "/nonexistent", ""])
def test_a_home_that_is_the_whole_system_or_nowhere_is_left_out(monkeypatch, name):
    monkeypatch.setenv("HOME", name)
    assert not {Path("/"), Path("/nonexistent"), Path.cwd()} & set(surroundings(memory=True))


def test_a_private_home_shows_all_and_what_is_written_there_stays_there(home, tmp_path):
    before = sorted(home.rglob("*"))
    relocation = Relocation(tmp_path / "copy").with_copies(home / "code/project")
    copy = relocation.path(home / "code/project")
    copy.mkdir(parents=True)
    (copy / "app.py").touch()
    place = tmp_path / "private"
    assert private_home(place, relocation) == {"HOME": str(place), "PYTHONUSERBASE": f"{home}/.local"}
    assert {path.name for path in place.iterdir()} == {path.name for path in home.iterdir()}
    assert (place / "code/project/app.py").exists()
    assert (place / "large").readlink() == home / "large"
    for name in (".cache/new", ".config/new", ".local/share/new", ".local/new", "code/new", "new"):
        (place / name).mkdir()
    with (place / ".profile").open("a") as profile:
        profile.write("new")
    assert sorted(home.rglob("*")) == before
    assert (home / ".profile").read_text() == "mine"


def test_variables_that_name_folders_of_the_home_lead_to_the_private_one(home, tmp_path, monkeypatch):
    (tmp_path / "cache" / "fonts").mkdir(parents=True)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    place = tmp_path / "private"
    led = private_home(place, Relocation())
    assert led["XDG_CACHE_HOME"] == str(place / ".cache")
    for name in (".cache", ".local/share"):
        assert (place / name / "fonts").readlink() == tmp_path / "cache/fonts"
    view = ProtectedView(redirected=led)
    assert view.variables(dict(os.environ))["HOME"] == str(place)
    assert view.variables({**os.environ, "HOME": "/srv/shop"})["HOME"] == "/srv/shop", "the app's own word counts"


LEAVING = """
import ctypes
libc = ctypes.CDLL(None)
print(libc.shmget(0, 4096, 0o1600), libc.semget(0, 1, 0o1600), libc.msgget(0, 0o1600))
"""


def test_memory_that_is_left_is_named_with_what_removes_it_until_it_is_gone():
    memory = SharedMemory()
    left = Path("/dev/shm") / f"stackrace-test-{os.getpid()}"
    done = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, check=True)
    removals = [
        *(f"ipcrm -{letter} {number}" for letter, number in zip("msq", done.stdout.split(), strict=True)),
        f"rm {left}",
    ]
    try:
        left.touch()
        (sentence,) = memory.left()
        assert all(removal in sentence for removal in removals)
    finally:
        for removal in removals:
            subprocess.run(removal.split(), check=True)
    assert not any(removal in sentence for sentence in memory.left() for removal in removals)


def test_memory_of_a_process_that_runs_is_not_named():
    memory, libc = SharedMemory(), ctypes.CDLL(None)
    number = libc.shmget(0, 4096, 0o1600)
    try:
        assert not any(f"ipcrm -m {number}" in sentence for sentence in memory.left())
    finally:
        with suppress(OSError):
            libc.shmctl(number, 0, None)
