"""What a race leaves behind when its supervisor had no chance to clear it away: a reboot, a power failure."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...base.errors import InputError
from ...base.files import remove_tree
from ...base.process.processes import pids, read
from ...deploy.guard import RUN_DIRECTORY
from ...deploy.privileges import private_folder

_PATIENCE_S = 30.0
"""A supervisor whose race was killed ends all servers within seconds, and then its folder."""


def clear_away(folder: Path, patience_s: float = _PATIENCE_S) -> None:
    """Wait until nothing runs any more in the run directory ``folder`` of a race that ended, and remove that.

    Raises InputError naming the processes that are still there after ``patience_s``.
    """
    until = time.monotonic() + patience_s
    while running := _running_in(folder):
        if time.monotonic() > until:
            raise InputError(
                f"processes of the interrupted race still run: {', '.join(map(str, running))}; "
                "end them, then try again"
            )
        time.sleep(0.1)
    if _is_ours(folder):
        remove_tree(folder)


@contextmanager
def remembered(folders: Sequence[Path], book: Path) -> Iterator[None]:
    """Remember in the folder ``book`` that these run directories are in use, for whoever comes after a kill.

    What those who were killed left is cleared away first, unless something runs in it.
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
    """Since then another program may have made something of that name."""
    if not RUN_DIRECTORY.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return os.geteuid() in (0, folder.stat().st_uid)
