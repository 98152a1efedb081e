"""SQLite files of the app, copied as they are at one moment. Source: sqlite.org, fileformat2, wal, backup."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

from .namespaces import give_to_owner
from .own_files import own_folders
from .view import View

__all__ = ["bring_in", "copy_to", "databases_below", "files_of", "is_database", "size_bytes"]

_MAGIC = b"SQLite format 3\0"
_SIDES = ("-wal", "-shm", "-journal")
_LEAST_BYTES = 512
"""The smallest page; a database has whole pages."""

_WAIT_S = 10.0
"""The longest wait for somebody who writes to a database."""


def databases_below(path: Path) -> Iterator[Path]:
    """Yield the SQLite files at or below ``path``, but none of packages, environments and hidden folders.

    What is not found in time is copied by the kernel when it is first opened.
    """
    if is_database(path):
        yield path
    for place, _, names in own_folders(path):
        yield from (place / name for name in names if is_database(place / name))


def size_bytes(database: Path) -> int:
    """Return the bytes of a database with what belongs to it."""
    return sum(path.stat().st_size for path in files_of(database))


def bring_in(database: Path, view: View) -> None:
    """Let ``view`` have its own copy of ``database``, which others may write to meanwhile.

    Raises OSError and sqlite3.Error where it cannot be read, or where somebody writes for too long.
    """
    if _is_in_use(database):
        _back_up(database, view.path(database))
        return
    with _at_rest(database):
        for path in files_of(database):
            _copy_up(view.path(path))


def copy_to(database: Path, target: Path) -> None:
    """Copy ``database``, which others may write to, to the new file ``target``; raises as ``bring_in``."""
    if _is_in_use(database):
        _back_up(database, target)
        return
    with _at_rest(database):
        for path in files_of(database):
            shutil.copy2(path, target.with_name(path.name))


def files_of(database: Path) -> list[Path]:
    """Return a database's files: itself, its log, its journal."""
    return [path for path in (database, *_sides(database)) if path.exists()]


def _back_up(source: Path, target: Path) -> None:
    """Copy a database that is open elsewhere in WAL mode: part of it is in its log."""
    until = time.monotonic() + _WAIT_S
    status = source.stat()
    for path in (target, *_sides(target)):
        path.unlink(missing_ok=True)

    def progress(code: int, left: int, pages: int) -> None:
        if code != sqlite3.SQLITE_OK and time.monotonic() > until:
            raise sqlite3.OperationalError("somebody writes to it all the time")

    with closing(_readable(source)) as original, closing(sqlite3.connect(target)) as copied:
        original.backup(copied, progress=progress)
    target.chmod(status.st_mode & 0o7777)
    give_to_owner(target, status)


@contextmanager
def _at_rest(database: Path) -> Iterator[None]:
    """Hold off writers where that leaves no trace: a database in WAL mode, or one left in a mess, is only read."""
    messy = any(path.exists() for path in _sides(database))
    if messy or _has_log(database):
        yield
        return
    with closing(_readable(database)) as connection:
        # without a transaction nothing is held
        connection.execute("BEGIN")
        with suppress(sqlite3.DatabaseError):
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        yield


def _readable(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=_WAIT_S, isolation_level=None)


def _copy_up(path: Path) -> None:
    """Open as if to write: an overlay copies then, and shares blocks where the file system can."""
    with suppress(PermissionError):
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))


def _sides(database: Path) -> tuple[Path, ...]:
    return tuple(Path(f"{database}{ending}") for ending in _SIDES)


def is_database(path: Path) -> bool:
    """Tell whether ``path`` is a SQLite file, by its size and its first bytes; a link is none."""
    with suppress(OSError):
        status = path.lstat()
        if status.st_size < _LEAST_BYTES or status.st_size % _LEAST_BYTES or not S_ISREG(status.st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    return False


def _is_in_use(database: Path) -> bool:
    """Tell whether it is open elsewhere in WAL mode."""
    side = Path(f"{database}-shm")
    return side.exists() and _is_locked(side)


def _is_locked(path: Path) -> bool:
    """Tell whether a process holds a lock on ``path``, as each one that has a database open in WAL mode does.

    Source: proc_locks(5).
    """
    status = path.stat()
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError):
        return any(device in line.split() for line in Path("/proc/locks").read_text().splitlines())
    return True


def _has_log(database: Path) -> bool:
    """Tell whether a database is in WAL mode, by its file's header."""
    with database.open("rb") as file:
        return file.read(20)[18:20] == b"\2\2"
