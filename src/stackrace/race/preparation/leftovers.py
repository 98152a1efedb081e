"""Leftovers of a race whose supervisor could not clean up: after a reboot or a power failure."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...base.errors import InputError
from ...base.files import remove_tree
from ...base.process.processes import pids, read
from ...base.unix import fcntl
from ...deploy.guard import RUN_DIRECTORY
from ...deploy.privileges import private_folder

_PATIENCE_S = 30.0
"""Seconds to wait: the supervisor of a killed race ends all servers within seconds, then removes its folder."""


def clear_away(folder: Path, patience_s: float = _PATIENCE_S) -> None:
    """Wait until nothing runs in the run directory ``folder`` of an ended race, then remove it.

    Raises InputError naming the processes that are still there after ``patience_s``.
    """
    until = time.monotonic() + patience_s
    while running := _running_in(folder):
        if time.monotonic() > until:
            raise InputError(
                f"processes of the interrupted race still run; end them with: kill {' '.join(map(str, running))}"
            )
        time.sleep(0.1)
    if _is_ours(folder):
        remove_tree(folder)


@contextmanager
def remembered(folders: Sequence[Path], book: Path) -> Iterator[None]:
    """Record in the folder ``book`` that run directories are in use, so that the next race removes them after a
    kill.

    Leftovers of killed races are removed first, unless something runs in them.
    """
    private_folder(book)
    for page in book.iterdir():
        with suppress(OSError, InputError), page.open() as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for line in left.read().splitlines():
                clear_away(Path(line), 0.0)
            page.unlink()
    own = book / secrets.token_hex(8)
    try:
        with own.open("w") as written:
            fcntl.flock(written, fcntl.LOCK_EX)
            written.write("".join(f"{folder}\n" for folder in folders))
            written.flush()
            yield
    finally:
        own.unlink(missing_ok=True)


def _running_in(folder: Path) -> list[int]:
    name = os.fsencode(folder)
    return [pid for pid in pids() if pid != os.getpid() and name in (read(f"/proc/{pid}/cmdline") or b"")]


def _is_ours(folder: Path) -> bool:
    """Return True if ``folder`` is a run directory of ours: another program may have reused its name since."""
    if not RUN_DIRECTORY.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return os.geteuid() in (0, folder.stat().st_uid)
