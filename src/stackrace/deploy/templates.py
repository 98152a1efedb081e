"""Folders that take long to make, made once and kept in the cache: what services and seeded apps start from.

A template is complete as soon as it exists: it is made in a folder beside it, written out, and renamed. While one
is made its lock is held exclusively, while it is copied it is shared; the kernel releases both with the process,
so a killed build leaves its folder only, which the next race removes. Source: flock(2), rename(2).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..base.errors import InputError, said_by
from ..base.removal import remove_tree
from .copies import CACHE, shortage, write_out
from .preparing import OnPreparing, Preparing, Step
from .privileges import private_folder

__all__ = ["Templates"]

UNUSED_DAYS = 30
"""A template that no race used for so long is removed: longer than most pauses between two looks at one question,
short enough that old versions of an app or a server do not pile up."""

_PART = ".part"
_LOCK = ".lock"


class Templates:
    """The templates below a cache folder. ``on_preparing`` hears what takes long."""

    def __init__(self, folder: Path, on_preparing: OnPreparing) -> None:
        self._folder = folder / "services"
        self.on_preparing = on_preparing

    @contextmanager
    def holding(self, name: str, identity: Sequence[str], build: Callable[[Path], None]) -> Iterator[Path]:
        """Yield the template of everything that ``identity`` says; nobody removes it meanwhile.

        When there is none, ``build`` is called with an empty folder to fill. What it raises is raised here and
        leaves nothing behind. Raises InputError where the cache cannot be written.
        """
        key = f"{name}-{hashlib.sha256(repr(tuple(identity)).encode()).hexdigest()[:16]}"
        home = self._folder / key
        while True:
            with self._locked(key, fcntl.LOCK_SH):
                if home.exists():
                    os.utime(home)
                    self._sweep()
                    yield home
                    return
            with self._locked(key, fcntl.LOCK_EX):
                if not home.exists():
                    self._build(home, build)

    @contextmanager
    def _locked(self, key: str, mode: int) -> Iterator[None]:
        """Hold the lock of ``key``; a lock file that was swept away meanwhile is none."""
        while True:
            try:
                private_folder(self._folder)
                lock = (self._folder / (key + _LOCK)).open("w")
            except OSError as error:
                raise InputError(
                    f"the cache {self._folder} cannot be written: {said_by(error)}; set {CACHE}"
                ) from error
            with lock:
                self._wait(lock, mode, key)
                if os.fstat(lock.fileno()).st_nlink:
                    yield
                    return

    def _wait(self, lock: IO[str], mode: int, key: str) -> None:
        try:
            fcntl.flock(lock, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            self.on_preparing(Preparing(step=Step.OTHER_RACE, subject=key))
            fcntl.flock(lock, mode)

    def _build(self, home: Path, build: Callable[[Path], None]) -> None:
        part = home.with_name(home.name + _PART)
        _remove(part)
        try:
            part.mkdir(mode=0o700)
            build(part)
            write_out(part)
            part.rename(home)
        except BaseException as error:
            # whoever waits for this lock sees that its file is gone, and makes another
            home.with_name(home.name + _LOCK).unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            way_out = shortage(self._folder, CACHE) or f"; set {CACHE} to another folder"
            raise InputError(f"a template cannot be kept in {self._folder}: {said_by(error)}{way_out}") from error
        finally:
            _remove(part)

    def _sweep(self) -> None:
        """Remove what no race used for long, and what killed builds left; what is locked is in use."""
        oldest = time.time() - UNUSED_DAYS * 86400
        for folder in self._folder.iterdir():
            # another race may sweep at the same time
            with contextlib.suppress(FileNotFoundError):
                left = folder.name.endswith(_PART) or folder.stat().st_mtime < oldest
                if left and not folder.name.endswith(_LOCK):
                    self._sweep_one(folder)

    def _sweep_one(self, folder: Path) -> None:
        path = folder.with_name(folder.name.removesuffix(_PART) + _LOCK)
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            _remove(folder)
            path.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    remove_tree(folder)
