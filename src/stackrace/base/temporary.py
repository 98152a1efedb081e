"""Temporary files: their folder, and the room in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import BreakdownError, shortages_named

RUN = "TMPDIR"
"""Environment variable for the folder of temporary files and run directories."""

ANOTHER_FOLDER = f"export {RUN}=/var/tmp"
"""Command that chooses another folder for temporary files, one that lasts and is on a disk."""
_LITTLE_BYTES = 64 * 2**20


def temporary_folder() -> str:
    """Return the folder for temporary files: tempfile's, but never the current folder, which may be a project.

    Raises BreakdownError if there is none.
    """
    if tempfile.tempdir is None:
        given = filter(None, map(os.environ.get, (RUN, "TEMP", "TMP")))
        tried = dict.fromkeys((*map(os.path.abspath, given), "/tmp", "/var/tmp"))
        tempfile.tempdir = next(filter(_takes_files, tried), None)
        if tempfile.tempdir is None:
            why = "it is missing, full or read-only, or ulimit -f allows no files"
            raise BreakdownError(f"no temporary file can be written to {' or '.join(tried)}: {why}; set {RUN}")
    return tempfile.tempdir


def _takes_files(folder: str) -> bool:
    with suppress(OSError), tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"full?")
        file.flush()
        return True
    return False


@contextmanager
def temporary_file() -> Iterator[IO[bytes]]:
    """Yield a file without a name. Raises BreakdownError if the disk is full."""
    with shortages_named(RUN), tempfile.TemporaryFile(dir=temporary_folder()) as file:
        yield file


def shortage(folder: str | Path, variable: str) -> str:
    """Return a note that the disk of ``folder`` is almost full, with the remedy; empty while there is room."""
    space = os.statvfs(folder)
    free = space.f_frsize * (space.f_bfree if os.geteuid() == 0 else space.f_bavail)
    if free >= _LITTLE_BYTES and (space.f_ffree or not space.f_files):
        return ""
    what = f"only {free >> 20} MiB are free" if space.f_ffree or not space.f_files else "no inodes are left"
    return f"; {what} in {folder}: free some, or set {variable} to a folder with more room"
