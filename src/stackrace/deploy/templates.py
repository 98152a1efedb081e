"""Folders that take long to make, kept in the cache: services and seeded apps start from copies of them.

A template is complete as soon as it exists: it is made in a folder beside it, written out, and renamed. While one
is made its lock is held exclusively, while it is copied it is shared; the kernel releases both with the process,
so a killed build leaves its folder only, which the next race removes. Source: flock(2), rename(2).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
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
from .preparing import OnPreparing, Preparing, Step
from .privileges import private_folder

CACHE = "XDG_CACHE_HOME"
"""The variable that says where the cache lies."""

_TIMEOUT_S = 600.0


def copy(source: Path, target: Path, variable: str) -> None:
    """Copy what is in ``source`` into the folder ``target``, owners and modes included.

    Where the file system can, blocks are shared until written to. Source: cp(1) --reflink, ioctl_ficlone(2).
    Raises InputError, naming ``variable``, when there is no room or no right to.
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
    """Move the folder ``source`` to ``target``, which does not exist; raises as ``copy`` does."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        target.mkdir()
        copy(source, target, variable)
        remove_tree(source)


def write_out(folder: Path) -> None:
    """Wait until what was written below ``folder`` is on its disk. Source: sync(1) --file-system."""
    run(("sync", "--file-system", str(folder)), folder=Path("/"), environment=os.environ, timeout_s=_TIMEOUT_S)


_UNUSED_DAYS = 30
"""A template that no race used for so long is removed: longer than most pauses between two looks at one question,
short enough that old versions of an app or a server do not pile up."""

_PART = ".part"
_LOCK = ".lock"


@contextmanager
def locked(
    folder: Path, key: str, mode: int, *, served: bool = False, on_waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lock of ``key`` in a ``folder`` of the cache, which is made; see ``private_folder`` for ``served``.

    A lock file that was swept away meanwhile is none. Raises InputError where the cache cannot be written.
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

    def _locked(self, key: str, mode: int) -> AbstractContextManager[None]:
        tell = partial(self.on_preparing, Preparing(step=Step.OTHER_RACE, subject=key))
        return locked(self._folder, key, mode, on_waiting=tell)

    def _build(self, home: Path, build: Callable[[Path], None]) -> None:
        part = home.with_name(home.name + _PART)
        remove_tree(part)
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
            remove_tree(part)

    def _sweep(self) -> None:
        """Remove what no race used for long, and what killed builds left; what is locked is in use."""
        oldest = time.time() - _UNUSED_DAYS * 86400
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
            remove_tree(folder)
            path.unlink(missing_ok=True)
