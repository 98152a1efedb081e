"""Files and folders copied and moved, and what to do when the disk has no room for them."""

from __future__ import annotations

import errno
import math
import os
import shutil
import time
from pathlib import Path
from stat import S_ISREG

from ..base.errors import InputError
from ..base.process import run
from ..base.removal import remove_tree

__all__ = ["CACHE", "RUN", "copy", "copy_file", "move", "shortage", "write_out"]

RUN = "TMPDIR"
"""The variable that says where run directories lie."""
CACHE = "XDG_CACHE_HOME"
"""The variable that says where the cache lies."""

_LITTLE_BYTES = 64 * 2**20
_TIMEOUT_S = 600.0
_PIECE_BYTES = 256 * 2**10
"""More leaves the processor's caches."""


def copy_file(source: Path, target: Path, until: float = math.inf) -> None:
    """Copy the regular file ``source``, as long as it is now, to a new file with its owner, rights and times.

    Raises OSError, and TimeoutError ``until`` when it must be done by the monotonic clock. A pipe is not opened.
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


def shortage(folder: Path, variable: str) -> str:
    """Say that the disk of ``folder`` is as good as full, and the way out; empty while there is room."""
    space = os.statvfs(folder)
    free = space.f_frsize * (space.f_bfree if os.geteuid() == 0 else space.f_bavail)
    if free >= _LITTLE_BYTES:
        return ""
    return f"; only {free >> 20} MiB are free in {folder}: free some, or set {variable} to a folder with more room"
