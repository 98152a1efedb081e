"""The lock of a race: one process at a time, whatever becomes of it."""

from __future__ import annotations

import stat
import subprocess
import sys

import pytest

from stackrace.base.errors import StoreError
from stackrace.store.race_lock import is_racing, made_here, race_lock

RACE = "3ntgduai031hk"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where locks lie."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "stackrace" / "races"


def test_only_its_owner_may_lock_a_race(folder):
    with race_lock(RACE, new=True):
        assert stat.S_IMODE((folder / RACE).stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_whoever_races_is_alone(folder):
    with race_lock(RACE, new=True):
        assert is_racing(RACE)
        with pytest.raises(StoreError, match="already running"), race_lock(RACE):
            pass
    assert not is_racing(RACE)
    assert made_here(RACE)
    with race_lock(RACE), pytest.raises(StoreError, match="already running"), race_lock(RACE):
        pass


HOLDER = """
import sys
from stackrace.store.race_lock import race_lock
with race_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_of_a_process_that_was_killed_is_free(folder):
    with race_lock(RACE, new=True):
        pass
    command = [sys.executable, "-c", HOLDER, RACE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert is_racing(RACE)
        holder.kill()
        holder.wait()
        assert not is_racing(RACE)


def test_a_race_of_another_machine_has_none_and_says_so(folder):
    assert not made_here(RACE)
    assert not is_racing(RACE)
    with pytest.raises(StoreError, match="another machine"), race_lock(RACE):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="XDG_DATA_HOME"), race_lock(RACE, new=True):
        pass
