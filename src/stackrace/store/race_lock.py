"""Locks on races: one process at a time races each.

A lock is an empty file in the user's data folder. It stays there, as a sign that this user made the race on this
machine: a store may be shared. Nor does a store know of a process that was killed, whose locks the kernel frees.

Source: flock(2).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..base.errors import StoreError
from ..base.unix import fcntl
from ..deploy.privileges import private_folder
from .address import data_folder


@contextmanager
def race_lock(race_id: str, *, new: bool = False) -> Iterator[None]:
    """Hold the lock of a race, which is created for a ``new`` one.

    Raise StoreError if another process races it, or if another machine or another user made it.
    """
    path = _path(race_id)
    try:
        if new:
            private_folder(path.parent)
        descriptor = _patiently(path, os.O_CREAT if new else 0)
    except BlockingIOError:
        # a held lock has the error number of "too many processes", which is not meant here
        raise StoreError(f"race {race_id} is already running in another process: wait for it, or stop it") from None
    except FileNotFoundError as error:
        raise StoreError(
            f"race {race_id} cannot continue here: another machine or another user made it; continue there, or "
            "start a new race"
        ) from error
    except OSError as error:
        raise StoreError(
            f"the lock {path} of race {race_id} cannot be opened: {error.strerror}; change its owner, or set "
            "XDG_DATA_HOME to another folder"
        ) from error
    try:
        yield
    finally:
        os.close(descriptor)


def made_here(race_id: str) -> bool:
    """Return True if this user made the race on this machine."""
    return os.access(_path(race_id), os.R_OK | os.W_OK)


def is_racing(race_id: str) -> bool:
    """Return True if a process of this machine is racing it at this moment."""
    if sys.platform == "win32":
        return False
    try:
        os.close(_locked(_path(race_id)))
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _path(race_id: str) -> Path:
    return data_folder() / "races" / race_id


def _patiently(path: Path, flags: int) -> int:
    """Lock with some patience: a process that only checks if the race runs holds the lock for a moment."""
    for _ in range(5):
        with suppress(BlockingIOError):
            return _locked(path, flags)
        time.sleep(0.05)
    return _locked(path, flags)


def _locked(path: Path, flags: int = 0) -> int:
    """Return the descriptor of the file at ``path``, which has the lock until it is closed."""
    descriptor = os.open(path, os.O_RDWR | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
