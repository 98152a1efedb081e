"""Files and folders: safe opening, reading up to a limit, and complete removal.

A path that this process may not access counts as missing, while methods of ``Path`` raise. Standard library only,
because the supervisor imports this module.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath

from .unix import open_flags

MOST_BYTES = 16 << 20
"""Default limit in bytes for reading: larger than any file that people or their tools write for a project."""
MOST_COPIED_BYTES = 1 << 30
"""Default limit in bytes for copies of a project that cannot be covered."""
_LONGEST_FOLDER = 3_500
"""Longest path of a folder in bytes; leaves room below PATH_MAX for a name, and for the folder of a copy."""
_PIECE_BYTES = 1 << 20
_KERNELS = frozenset({
    0x9FA0, 0x62656572, 0x27E0EB, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0x62656570, 0xCAFE4A11,
    0xDE5E81E4, 0x1CD1, 0x19800202, 0x42494E4D, 0x6165676C, 0xF97CFF8C, 0x43415D53, 0x6E736673, 0x65735543,
    0x67596969, 0x187, 0x7655821, 0xABBA1974, 0x6E667364,
})  # fmt: skip
"""File systems whose files the kernel creates while they are read: procfs, sysfs, cgroups, tracefs and others.

Source: linux/magic.h.
"""
_is_kernels: dict[int, bool] = {}
"""Known devices: True for a file system that the kernel creates."""

_READ = open_flags("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")


def opened(path: Path) -> BufferedReader:
    """Open a regular file for reading, or a shell's pipe, as for ``<(command)``; raise OSError for anything else.

    Opening never blocks, as it would for a named pipe. Devices and files of the kernel, such as
    ``/proc/kmsg``, are refused: both may have no end.
    """
    handle = os.open(path, _READ)
    try:
        status = os.fstat(handle)
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode) and not (stat.S_ISFIFO(mode) and _has_no_name(handle)):
            kind = "named pipe" if stat.S_ISFIFO(mode) else "device"
            raise OSError(errno.EINVAL, f"it is a {kind}, not a file", str(path))
        if stat.S_ISREG(mode) and _comes_from_kernel(handle, status.st_dev):
            raise OSError(
                errno.EINVAL, "it is made by the kernel, as all in /proc and /sys, and no file", str(path)
            )
        if sys.platform != "win32":
            os.set_blocking(handle, True)
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


_OTHERS_MEET = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG}
)  # fmt: skip
"""Numbers of errors that other programs meet, too, when they read the file, and report themselves."""


def require_files(paths: Iterable[Path]) -> None:
    """Raise OSError for the first of ``paths`` that exists and is no file: other programs would block on it."""
    for path in paths:
        try:
            opened(path).close()
        except OSError as error:
            if error.errno not in _OTHERS_MEET:
                raise OSError(error.errno, error.strerror, str(path)) from None


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a file's content; raises OSError like ``opened``, and for a file of more than ``most_bytes``."""
    content = bytearray()
    with opened(path) as file:
        # piece by piece, because read() allocates all that it is asked for
        while piece := file.read(min(_PIECE_BYTES, most_bytes + 1 - len(content))):
            content += piece
    if len(content) > most_bytes:
        bound = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes >> 10} KiB"
        raise OSError(errno.EFBIG, f"it has more than {bound}; is it the right file?", str(path))
    return bytes(content)


def read_text(path: Path, most_bytes: int = MOST_BYTES, *, errors: str = "strict") -> str:
    """Return a file's text in UTF-8, without the byte order mark and the carriage returns of some editors.

    Raises OSError like ``read_bytes``, and UnicodeDecodeError.
    """
    text = read_bytes(path, most_bytes).decode("utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _has_no_name(handle: int) -> bool:
    """Tell whether a pipe has no name in a folder, so that it has a writer already. Source: proc_pid_fd(5)."""
    return Path(f"/proc/self/fd/{handle}").readlink().name.startswith("pipe:")


def _comes_from_kernel(handle: int, device: int) -> bool:
    if sys.platform != "linux" or os.major(device):
        # a disk
        return False
    if device not in _is_kernels:
        import ctypes

        # the structure of fstatfs(2) is smaller, and its first number is the kind
        about = (ctypes.c_uint32 * 128)()
        _is_kernels[device] = ctypes.CDLL(None).fstatfs(handle, about) == 0 and about[0] in _KERNELS
    return _is_kernels[device]


def is_file(path: Path) -> bool:
    """Tell whether ``path`` is a file, or a link to one."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Tell whether ``path`` is a folder, or a link to one."""
    return os.path.isdir(path)  # noqa: PTH112


def is_present(path: Path) -> bool:
    """Tell whether ``path`` exists; a dangling link does not."""
    return os.path.exists(path)  # noqa: PTH110


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return the entries of ``folder`` whose names match ``pattern``, sorted; empty if it cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def real_path(path: Path) -> Path:
    """Return ``path`` absolute and with links resolved; a link that leads to itself stays as it is."""
    return Path(os.path.realpath(path))


def walk(
    top: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield like ``os.walk``, as deep as paths can be: ``os.walk`` is recursive before Python 3.12.

    ``onerror`` is called with the error of each folder that cannot be read.
    """
    waiting = [str(top)]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    # without Path objects, which are slow for deep folders
                    (folders if os.path.isdir(entry) else files).append(entry.name)  # noqa: PTH112
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield place, folders, files
        inner = (os.path.join(place, name) for name in reversed(folders))  # noqa: PTH118
        waiting += [folder for folder in inner if is_short(folder) and not os.path.islink(folder)]  # noqa: PTH114


def files_in(path: Path) -> Iterator[Path]:
    """Yield the files below the folder ``path``, or ``path`` itself if it is a file or a link."""
    if not is_folder(path) or path.is_symlink():
        yield path
        return
    for folder, _, names in walk(path):
        yield from (Path(folder, name) for name in names)


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; files that vanish meanwhile count nothing."""
    total = 0
    for file in files_in(path):
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def is_short(folder: str | Path) -> bool:
    """Tell whether the path of ``folder`` is short enough for entries in it, and for a copy."""
    return len(os.fsencode(folder)) < _LONGEST_FOLDER


def by_last_parts(
    given: str, bases: Sequence[Path], fits: Callable[[Path], object] = is_present, least: int = 1
) -> Path | None:
    """Return the path below one of ``bases`` that ends with most last parts of ``given``; None if there is none.

    Only paths that ``fits`` accepts count, with at least ``least`` parts of ``given``. For example,
    ``/app/conf/g.py`` of an image is the project's ``conf/g.py``.
    """
    parts = [part for part in PurePosixPath(given).parts if part not in ("/", ".", "..")]
    for start in range(len(parts) - least + 1):
        for base in bases:
            place = base.joinpath(*parts[start:])
            if fits(place):
                return place
    return None


_ENTER = open_flags("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
_FOLLOWING = open_flags("O_DIRECTORY", "O_CLOEXEC")
_LOOK = open_flags("O_PATH", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
_ALL_RIGHTS = 0o700


def remove_tree(folder: Path) -> None:
    """Remove ``folder`` and its content, as far as permitted; a link, or a missing folder, is left alone.

    Folders that are not readable or writable are given these rights. Folders are entered one by one, never by a
    path and with one descriptor, so that any depth works, and no link leads outside.
    """
    if sys.platform != "linux":
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        here = os.open(folder.parent, _FOLLOWING)
    except OSError:
        return
    waiting, way = [[folder.name]], [_identity(here)]
    try:
        while waiting[0]:
            if not waiting[-1]:
                waiting.pop()
                way.pop()
                here = _replaced(here, os.open("..", _ENTER, dir_fd=here))
                if _identity(here) != way[-1]:
                    # another program moved a folder, and the folder above it now must not be emptied
                    return
                with suppress(OSError):
                    os.rmdir(waiting[-1].pop(), dir_fd=here)
            elif (inner := _entered(here, waiting[-1][-1])) is not None:
                here = _replaced(here, inner)
                way.append(_identity(here))
                waiting.append(_emptied(here))
            else:
                waiting[-1].pop()
    except OSError:
        return
    finally:
        os.close(here)


def _replaced(before: int, after: int) -> int:
    """Close the descriptor ``before``, and return ``after``."""
    os.close(before)
    return after


def _entered(here: int, name: str) -> int | None:
    """Open the folder ``name``, with all rights to it; return None if that fails."""
    with suppress(OSError):
        found = os.open(name, _LOOK, dir_fd=here)
        try:
            if os.fstat(found).st_mode & _ALL_RIGHTS != _ALL_RIGHTS:
                # the only name of a folder opened without any right; its owner may change the mode all the same
                os.chmod(f"/proc/self/fd/{found}", _ALL_RIGHTS)  # noqa: PTH101
            return os.open(f"/proc/self/fd/{found}", _FOLLOWING)
        finally:
            os.close(found)
    return None


def _emptied(here: int) -> list[str]:
    """Remove all files in the open folder ``here``, and return the names of its folders."""
    folders = []
    with os.scandir(here) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                with suppress(OSError):
                    os.unlink(entry.name, dir_fd=here)
    return folders


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
