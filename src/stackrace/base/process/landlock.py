"""Keep a process, and all that it starts, from writing below some folders. Standard library only.

Where mount namespaces are forbidden, as in containers, Landlock mostly is not. It needs no rights, and cannot be
taken back. It does not hold off changes of a file's mode, owner and times, nor what was open before.
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
"""To make, remove, rename and link files and folders of every kind."""


def restricts() -> bool:
    """Tell whether the kernel can keep processes from writing.

    The first version, of Linux 5.13 to 5.18, does not count: it forbids to move files between any two folders.
    """
    return _version() > 1


def restrict(closed: Collection[str], kept: Sequence[str]) -> None:
    """Let this process, and all that it starts, write below none of ``closed`` but to ``kept``.

    All are absolute, without links. In the folders around ``closed`` nothing new can be made either, for what is
    allowed in a folder is allowed below it. Raises OSError where the kernel cannot.
    """
    handled = (_WRITE_FILE | _ENTRIES | _TRUNCATE) if _version() > 2 else _WRITE_FILE | _ENTRIES
    attributes = struct.pack("=Q", handled)
    rules = done(LIBC.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path in (*_open(Path("/"), set(map(Path, closed))), *kept):
            with suppress(OSError):
                _allow(rules, path, handled)
        done(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        done(LIBC.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


def _version() -> int:
    version: int = LIBC.syscall(_CREATE_RULESET, None, 0, _VERSION)
    return version


def _open(folder: Path, closed: set[Path]) -> Iterator[str]:
    """Yield the outermost files and folders below ``folder`` that hold none of ``closed``."""
    if folder in closed:
        return
    if not any(path.is_relative_to(folder) for path in closed):
        yield str(folder)
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield from _open(Path(entry.path), closed)


def _allow(rules: int, path: str, handled: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = handled if os.path.isdir(path) else handled & ~_ENTRIES  # noqa: PTH112 (many)
        rule = struct.pack("=Qi", rights, handle)
        done(LIBC.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0))
    finally:
        os.close(handle)
