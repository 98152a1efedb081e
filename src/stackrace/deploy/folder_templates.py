"""Folders that take long to build, kept in the cache: services and seeded apps start from copies of them.

A template is complete as soon as it exists: it is built in a folder beside it, written out, and renamed. Its lock
is held exclusively during the build and shared during a copy; the kernel releases both with the process,
so a killed build leaves only its folder, which the next race removes. Source: flock(2), rename(2).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from ..base.errors import InputError, said_by
from ..base.files import remove_tree
from ..base.process import run
from ..base.temporary import shortage
from ..base.unix import fcntl
from .preparing import OnPreparing, Preparing, Step
from .privileges import private_folder

CACHE = "XDG_CACHE_HOME"
"""Environment variable that sets the place of the cache."""

_TIMEOUT_S = 600.0


def copy(source: Path, target: Path, variable: str) -> None:
    """Copy the content of ``source`` into the folder ``target``, with owners and modes.

    If the file system can, blocks are shared until written to. Source: cp(1) --reflink, ioctl_ficlone(2).
    Raises InputError, naming ``variable``, if there is no room or no permission.
    """
    # sparse files stay as they are: punching holes would let a database meet a full disk in its own files
    command = ("cp", "-a", "--reflink=auto", "--sparse=auto", "--", f"{source}/.", str(target))
    result = run(command, folder=Path("/"), environment={**os.environ, "LC_ALL": "C"}, timeout_s=_TIMEOUT_S)
    if result.code:
        way_out = shortage(target, variable) or f"; set {variable} to another folder"
        raise InputError(
            f"{source} cannot be copied to {target}{way_out}",
            detail="\n".join(result.output.splitlines()[-3:]),
        )


def move(source: Path, target: Path, variable: str) -> None:
    """Move the folder ``source`` to ``target``, which must not exist; raises like ``copy``."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        target.mkdir()
        copy(source, target, variable)
        remove_tree(source)


def write_out(folder: Path) -> None:
    """Wait until everything written below ``folder`` is on its disk. Source: sync(1) --file-system."""
    run(("sync", "--file-system", str(folder)), folder=Path("/"), environment=os.environ, timeout_s=_TIMEOUT_S)


_UNUSED_DAYS = 30
"""Days after which an unused template is removed: longer than most pauses between two looks at one question,
short enough that old versions of an app or a server do not pile up.
"""

_PART = ".part"
_LOCK = ".lock"


@contextmanager
def locked(
    folder: Path, key: str, mode: int, *, served: bool = False, on_waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lock of ``key`` in a cache ``folder``, which is created; see ``private_folder`` for ``served``.

    ``mode`` is LOCK_SH or LOCK_EX. ``on_waiting`` is called if another process holds the lock. A lock file that was
    removed meanwhile does not count. Raises InputError if the cache is not writable.
    """
    while True:
        try:
            private_folder(folder, served=served)
            lock = (folder / (key + _LOCK)).open("w")
        except OSError as error:
            raise InputError(f"the cache {folder} cannot be written: {said_by(error)}; set {CACHE}") from error
        with lock:
            try:
                fcntl.flock(lock, mode | fcntl.LOCK_NB)
            except BlockingIOError:
                if on_waiting is not None:
                    on_waiting()
                fcntl.flock(lock, mode)
            if os.fstat(lock.fileno()).st_nlink:
                yield
                return


class Templates:
    """Templates below a cache folder; ``on_preparing`` is called before long steps."""

    def __init__(self, folder: Path, on_preparing: OnPreparing) -> None:
        self._folder = folder / "services"
        self.on_preparing = on_preparing

    @contextmanager
    def holding(self, name: str, identity: Sequence[str], build: Callable[[Path], None]) -> Iterator[Path]:
        """Yield the template for ``identity``; no race removes it before the context ends.

        If there is none, ``build`` is called with an empty folder to fill; if it raises an exception, no template
        is left behind. Raises InputError if the cache is not writable.
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

    def _locked(self, key: str, mode: int) -> AbstractContextManager[None]:
        on_waiting = partial(self.on_preparing, Preparing(step=Step.OTHER_RACE, subject=key))
        return locked(self._folder, key, mode, on_waiting=on_waiting)

    def _build(self, home: Path, build: Callable[[Path], None]) -> None:
        part = home.with_name(home.name + _PART)
        remove_tree(part)
        try:
            part.mkdir(mode=0o700)
            build(part)
            write_out(part)
            part.rename(home)
        except BaseException as error:
            # a waiter for this lock notices that its file is gone, and creates another
            home.with_name(home.name + _LOCK).unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            way_out = shortage(self._folder, CACHE) or f"; set {CACHE} to another folder"
            raise InputError(f"a template cannot be kept in {self._folder}: {said_by(error)}{way_out}") from error
        finally:
            remove_tree(part)

    def _sweep(self) -> None:
        """Remove templates unused for long, and the remains of killed builds; a locked template is in use."""
        oldest = time.time() - _UNUSED_DAYS * 86400
        for folder in self._folder.iterdir():
            # another race may sweep at the same time
            with contextlib.suppress(FileNotFoundError):
                left = folder.name.endswith(_PART) or folder.stat().st_mtime < oldest
                if left and not folder.name.endswith(_LOCK):
                    self._remove_unlocked(folder)

    def _remove_unlocked(self, folder: Path) -> None:
        path = folder.with_name(folder.name.removesuffix(_PART) + _LOCK)
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            remove_tree(folder)
            path.unlink(missing_ok=True)
