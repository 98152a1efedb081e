"""Consistent copies of SQLite files while other programs write to them.

The files are read as bytes. SQLite itself never opens them: it opens a log for writing even for a reader, and it
resolves a link into a view, which would then mean the original.
Source: sqlite.org, fileformat2, walformat, lockingv3, atomiccommit; fcntl_locking(2).
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from ..base.process import run
from ..base.process.view import ProtectedView
from ..base.unix import fcntl

_MAGIC = b"SQLite format 3\0"
_LOG, _INDEX, _JOURNAL = "-wal", "-shm", "-journal"
_SIDES = (_LOG, _INDEX, _JOURNAL)
_LEAST_BYTES = 512
"""Bytes of the smallest page; a database has whole pages."""
_LOG_HEADER_BYTES = 32

_TRIES = 5
"""Maximum number of copies of a file that is written to meanwhile."""
_UNLOCKED_S = 1.0
"""Seconds to try to copy without a lock."""
_WAIT_S = 10.0
"""Longest time in seconds to wait for a lock, or to copy without blocking commits."""
_HELD_S = 2.0
"""Longest time in seconds to block commits: most SQLite users let a commit wait for five seconds."""
_COPY_S = 3600.0
"""Timeout in seconds: a copy of many gigabytes takes minutes, and waits for writers."""
_TICK_S = 0.01
"""Longest tick in seconds of the clock by which the kernel dates files."""
_CLOCK_REALTIME_COARSE = 5

_PENDING = 0x40000000
_SHARED, _SHARED_BYTES = _PENDING + 2, 510
"""Bytes of a database that readers lock."""
_READ_MARK = 127
"""Byte in a log's index that its fifth reader locks: no writer restarts the log meanwhile."""

_FLOCK = "@hhqqi0q"
"""``struct flock``: kind, origin, start, length, owner."""


def size_bytes(database: Path) -> int:
    """Return the bytes of a database with its side files."""
    files = (database, *(_side_file(database, each) for each in _SIDES))
    return sum(look.size for look in map(FileStatus.at, files) if look)


def is_database(path: Path) -> bool:
    """Tell whether ``path`` is a SQLite file, by its size and its first bytes; False for a symbolic link."""
    look = FileStatus.at(path)
    if look is None or look.size < _LEAST_BYTES or look.size % _LEAST_BYTES:
        return False
    return _first_bytes(path, len(_MAGIC)) == _MAGIC


def bring_in(path: Path, view: ProtectedView) -> bool:
    """Copy ``path``, a database or not, to its place in ``view``; return and raise like ``copy_as_it_is``.

    Raises FileExistsError if the view does not cover the folder of ``path``.
    """
    target = view.path(path)
    if os.path.samestat(target.parent.stat(), path.parent.stat()):
        raise FileExistsError(f"{path.parent} is not covered")
    for ending in _SIDES:
        # side files from an earlier run of the app would be read with the copy
        _side_file(target, ending).unlink(missing_ok=True)
    return copy_as_it_is(path, target)


def _copy_to(database: Path, target: Path) -> None:
    """Copy ``database``, which others may write to, to ``target``, with all earlier commits.

    Raises TimeoutError if it is written to all the time, OSError if it cannot be read or written. Then ``target``
    does not exist.
    """
    if _handle_here(database) is None:
        _copy_here(database, target)
    else:
        _copy_in_another_process(database, target)


def _handle_here(path: Path) -> int | None:
    """Return the descriptor of ``path`` if this process has it open, as it has our store; None otherwise.

    Another descriptor must not be opened: closing it would release all locks of this process. Source:
    fcntl_locking(2), record locks.
    """
    look = FileStatus.at(path)
    for name in os.listdir("/proc/self/fd") if look else ():  # noqa: PTH208 (often)
        with suppress(OSError):
            if FileStatus.of(os.fstat(int(name))).is_same_file(look):
                return int(name)
    return None


def _copy_in_another_process(database: Path, target: Path) -> None:
    script = f"import sys; from {__name__} import _copy_alone; _copy_alone(*sys.argv[1:])"
    command = (sys.executable, "-P", "-c", script, str(database), str(target))
    ended = run(command, folder=Path("/"), environment=os.environ, timeout_s=_COPY_S)
    if ended.code:
        raise OSError(ended.code, ended.output.strip() or os.strerror(ended.code), str(database))


def _copy_alone(database: str, target: str) -> None:
    """Copy like ``_copy_to`` in a process that has no database open; it exits with the number of the error."""
    try:
        _copy_to(Path(database), Path(target))
    except OSError as error:
        sys.stderr.write(str(error.strerror or error))
        sys.exit(error.errno or errno.ETIMEDOUT)


def copy_as_it_is(path: Path, target: Path) -> bool:
    """Copy a file that others may write to; side files of a database are copied with the database.

    Returns True if the copy shows the file at one moment; otherwise a database has no copy, and another file a
    mixed one. Raises OSError if the file cannot be read or written.
    """
    if is_side(path):
        return True
    if not is_database(path):
        return any(_is_copied(path, target) for _ in range(_TRIES))
    try:
        _copy_to(path, target)
    except TimeoutError:
        return False
    return True


def _is_copied(path: Path, target: Path) -> bool:
    before = FileStatus.at(path)
    _copy_file(path, target)
    return before is not None and before.holds(FileStatus.at(path))


def is_side(path: Path) -> bool:
    """Tell whether ``path`` is the log, the index or the journal of a database."""
    ending = next((each for each in _SIDES if path.name.endswith(each)), "")
    return bool(ending) and is_database(path.with_name(path.name.removesuffix(ending)))


@dataclass(frozen=True, slots=True)
class FileStatus:
    """File status that changes with each write to a file, and when another file takes its place."""

    device: int
    number: int
    size: int
    changed_ns: int

    @classmethod
    def at(cls, path: Path) -> FileStatus | None:
        """Return the status of ``path``; None if it is no regular file."""
        with suppress(OSError):
            status = path.lstat()
            if S_ISREG(status.st_mode):
                return cls.of(status)
        return None

    @classmethod
    def of(cls, status: os.stat_result) -> FileStatus:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)

    def holds(self, later: FileStatus | None) -> bool:
        """Tell whether the file still has this content when it has the status ``later``; appended data are allowed.

        None means that there is no file any more.
        """
        return self == later or (later is not None and self.is_same_file(later) and self.size < later.size)

    def is_same_file(self, other: FileStatus | None) -> bool:
        return other is not None and (self.device, self.number) == (other.device, other.number)


@dataclass(frozen=True, slots=True)
class _DatabaseStatus:
    """Database status; two of them tell whether a copy made in between shows the database at one moment."""

    file: FileStatus
    log: FileStatus | None
    log_header: bytes
    """First bytes of the log, which change when the log is restarted, but not when it grows."""
    journal: FileStatus | None
    is_settled: bool
    """True if a later write will change a date, because the clock went on, and if no commit is half done."""

    @classmethod
    def at(cls, database: Path) -> _DatabaseStatus:
        now_ns = time.clock_gettime_ns(_CLOCK_REALTIME_COARSE)
        file, log, journal = (FileStatus.at(_side_file(database, each)) for each in ("", _LOG, _JOURNAL))
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(database))
        header = _first_bytes(_side_file(database, _LOG), _LOG_HEADER_BYTES) if log else b""
        dates = [look.changed_ns for look in (file, log, journal) if look]
        return cls(
            file=file,
            log=log,
            log_header=header if len(header) == _LOG_HEADER_BYTES else b"",
            journal=journal,
            # the clock may have been set back since
            is_settled=not any(now_ns <= date < now_ns + 10**9 for date in dates)
            and (journal is not None or not _is_being_written(database)),
        )

    def agrees(self, later: _DatabaseStatus, *, held: bool) -> bool:
        """Tell whether a copy of the database, then of the log, made before ``later``, shows one moment.

        ``held`` is true if commits were blocked. Everything that is written into a database from its log stays in
        the log until the log is restarted. So a copy is complete if the log was copied after the database, whatever
        was written in between.
        """
        if not self.file.is_same_file(later.file):
            return False
        if self.log_header and self.log_header == later.log_header and self.journal == later.journal:
            return self.log is not None and self.log.is_same_file(later.log)
        if held and not self.log and not later.log:
            return self.file == later.file
        same = (self.file, self.log, self.journal) == (later.file, later.log, later.journal)
        return same and self.is_settled


def _copy_here(database: Path, target: Path) -> None:
    """Copy without a lock if that succeeds, else with a reader's lock; leaves nothing after a failure."""
    until = time.monotonic() + _UNLOCKED_S
    try:
        while not _is_copied_whole(database, target):
            if time.monotonic() > until:
                with _reading(database) as (held, limit_s):
                    # the first try may coincide with the start of a log
                    tries = (
                        _is_copied_whole(database, target, held=held, until=time.monotonic() + limit_s)
                        for _ in range(2)
                    )
                    if any(tries):
                        return
                    raise _busy_error()
            time.sleep(_TICK_S)
    except BaseException:
        _remove(target)
        raise


def _is_copied_whole(database: Path, target: Path, *, held: bool = False, until: float = math.inf) -> bool:
    before = _DatabaseStatus.at(database)
    _remove(target)
    _copy_file(database, target, until)
    for side in (_LOG, _JOURNAL):
        # the second look notices a side file that vanished meanwhile
        with suppress(FileNotFoundError):
            _copy_file(_side_file(database, side), _side_file(target, side), until)
    return before.agrees(_DatabaseStatus.at(database), held=held)


def _remove(database: Path) -> None:
    for path in (database, *(_side_file(database, each) for each in _SIDES)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def _reading(database: Path) -> Iterator[tuple[bool, float]]:
    """Take a reader's locks; yield whether they block commits, and for how many seconds they may be held."""
    index = _side_file(database, _INDEX)
    # the header of a database with a write-ahead log
    if _first_bytes(database, 20)[18:20] == b"\2\2":
        if not index.exists():
            # without an index, one program uses the database exclusively
            yield False, _WAIT_S
            return
        with _opened(index) as handle:
            _wait_for_lock(lambda: _lock(handle, fcntl.F_RDLCK, _READ_MARK, 1))
            yield False, float("inf")
        return
    with _opened(database) as handle:
        _wait_for_lock(lambda: _lock_shared(handle))
        yield True, _HELD_S


def _lock_shared(handle: int) -> None:
    """Take a reader's lock, unless a writer waits for the end of all readers."""
    _lock(handle, fcntl.F_RDLCK, _PENDING, 1)
    try:
        _lock(handle, fcntl.F_RDLCK, _SHARED, _SHARED_BYTES)
    finally:
        _lock(handle, fcntl.F_UNLCK, _PENDING, 1)


def _lock(handle: int, kind: int, start: int, length: int) -> None:
    """Lock like SQLite, but for this descriptor alone: closing another descriptor does not release the lock."""
    fcntl.fcntl(handle, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, kind, os.SEEK_SET, start, length, 0))


def _is_being_written(database: Path) -> bool:
    asked = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, _PENDING, _SHARED + _SHARED_BYTES - _PENDING, 0)
    # some file systems know no locks
    with suppress(OSError), _opened(database) as handle:
        kind, *_ = struct.unpack(_FLOCK, fcntl.fcntl(handle, fcntl.F_OFD_GETLK, asked))
        return bool(kind != fcntl.F_UNLCK)
    return False


def _wait_for_lock(lock: Callable[[], None]) -> None:
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            return lock()
        except BlockingIOError:
            if time.monotonic() > until:
                raise _busy_error() from None
        time.sleep(0.001)


def _busy_error() -> TimeoutError:
    return TimeoutError(errno.ETIMEDOUT, "somebody writes to it all the time")


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        yield handle
    finally:
        os.close(handle)


def _first_bytes(path: Path, length: int) -> bytes:
    with suppress(OSError):
        if (here := _handle_here(path)) is not None:
            return os.pread(here, length, 0)
        with _opened(path) as handle:
            return os.pread(handle, length, 0)
    return b""


def _side_file(database: Path, ending: str) -> Path:
    return database.with_name(f"{database.name}{ending}")


_PIECE_BYTES = 256 * 2**10
"""Bytes per read; more does not fit the processor's caches."""


def _copy_file(source: Path, target: Path, until: float = math.inf) -> None:
    """Copy the regular file ``source``, at its current length, to a new file with its owner, rights and times.

    Raises OSError, also for a pipe, which is not opened, and TimeoutError if the copy is not complete at the
    monotonic time ``until``.
    """
    if not S_ISREG(source.lstat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(source))
    target.unlink(missing_ok=True)
    handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb", buffering=0) as file, target.open("wb", buffering=0) as copied:
        status = os.fstat(handle)
        left = status.st_size
        while left and (piece := file.read(min(left, _PIECE_BYTES))):
            copied.write(piece)
            left -= len(piece)
            if time.monotonic() > until:
                raise TimeoutError(errno.ETIMEDOUT, "it takes too long to copy it")
        if os.geteuid() == 0:
            os.fchown(copied.fileno(), status.st_uid, status.st_gid)
    shutil.copystat(source, target)
