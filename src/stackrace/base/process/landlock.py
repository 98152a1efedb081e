"""Write protection of folders for a process and its children. Standard library only.

Landlock mostly works where mount namespaces are forbidden, as in containers. It needs no rights, and cannot be
undone. It does not prevent changes of a file's mode, owner and times, or writes to files that are already open.
Source: landlock(7); kernel documentation, userspace-api/landlock.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from .namespaces import LIBC, done

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, the same on every architecture."""
_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_ENTRIES = sum(1 << bit for bit in range(4, 14))
"""Rights to create, remove, rename and link files and folders of every kind."""


def restricts() -> bool:
    """Tell whether the kernel can keep processes from writing.

    The first version, of Linux 5.13 to 5.18, does not count: it forbids moving files between any two folders.
    """
    return _version() > 1


def restrict(read_only: Collection[str], writable: Sequence[str]) -> None:
    """Forbid this process, and all that it starts, to write below ``read_only``, except to ``writable``.

    All paths are absolute, without links. No new entries can be created in the parents of ``read_only`` either,
    because a right for a folder includes everything below it. Raises OSError if the kernel cannot do it.
    """
    handled = (_WRITE_FILE | _ENTRIES | _TRUNCATE) if _version() > 2 else _WRITE_FILE | _ENTRIES
    attributes = struct.pack("=Q", handled)
    rules = done(LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path in (*_open(Path("/"), set(map(Path, read_only))), *writable):
            with suppress(OSError):
                _allow(rules, path, handled)
        done(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        done(LIBC.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def _version() -> int:
    version: int = LIBC.syscall(_CREATE_RULESET, None, 0, _VERSION)
    return version


def _open(folder: Path, read_only: set[Path]) -> Iterator[str]:
    """Yield the outermost files and folders below ``folder`` that contain none of ``read_only``."""
    if folder in read_only:
        return
    if not any(path.is_relative_to(folder) for path in read_only):
        yield str(folder)
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield from _open(Path(entry.path), read_only)


def _allow(rules: int, path: str, handled: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = handled if os.path.isdir(path) else handled & ~_ENTRIES  # noqa: PTH112 (many)
        rule = struct.pack("=Qi", rights, handle)
        done(LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0))
    finally:
        os.close(handle)
