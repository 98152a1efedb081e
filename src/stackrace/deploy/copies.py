"""Folders copied and moved as a whole, and what to do when the disk has no room for them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ..model.errors import InputError
from ..model.removal import remove_tree
from ..process import run

__all__ = ["CACHE", "RUN", "copy", "move", "shortage", "write_out"]

RUN = "TMPDIR"
"""The variable that says where run directories lie."""
CACHE = "XDG_CACHE_HOME"
"""The variable that says where the cache lies."""

LITTLE_BYTES = 64 * 2**20
TIMEOUT_S = 600.0


def copy(source: Path, target: Path, variable: str) -> None:
    """Copy what is in ``source`` into the folder ``target``, owners and modes included.

    Where the file system can, blocks are shared until written to. Source: cp(1) --reflink, ioctl_ficlone(2).
    Raises InputError, naming ``variable``, when there is no room or no right to.
    """
    # sparse files stay as they are: punching holes would let a database meet a full disk in its own files
    command = ("cp", "-a", "--reflink=auto", "--sparse=auto", "--", f"{source}/.", str(target))
    result = run(command, folder=Path("/"), environment={**os.environ, "LC_ALL": "C"}, timeout_s=TIMEOUT_S)
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
    run(("sync", "--file-system", str(folder)), folder=Path("/"), environment=os.environ, timeout_s=TIMEOUT_S)


def shortage(folder: Path, variable: str) -> str:
    """Say that the disk of ``folder`` is as good as full, and the way out; empty while there is room."""
    space = os.statvfs(folder)
    free = space.f_frsize * (space.f_bfree if os.geteuid() == 0 else space.f_bavail)
    if free >= LITTLE_BYTES:
        return ""
    return f"; only {free >> 20} MiB are free in {folder}: free some, or set {variable} to a folder with more room"
