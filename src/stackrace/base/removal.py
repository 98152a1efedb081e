"""Folders removed with all that is in them, whatever that is. The supervisor uses it: standard library only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["remove_tree"]

_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALL_RIGHTS = 0o700


def remove_tree(folder: Path) -> None:
    """Remove ``folder`` and all in it, as far as we may; one that is a link, or is not there, is left alone.

    Folders that forbid to look or to write are given back these rights. Folders are entered one by one, never by a
    path and with one descriptor, so that any depth will do, and no link leads outside.
    """
    try:
        here = os.open(folder.parent, _ENTER & ~os.O_NOFOLLOW)
    except OSError:
        return
    waiting, way = [[folder.name]], [_identity(here)]
    try:
        while waiting[0]:
            if not waiting[-1]:
                waiting.pop()
                way.pop()
                here = _instead(here, os.open("..", _ENTER, dir_fd=here))
                if _identity(here) != way[-1]:
                    # somebody moved a folder, and what is above it now is not ours to empty
                    return
                with suppress(OSError):
                    os.rmdir(waiting[-1].pop(), dir_fd=here)
            elif (inner := _entered(here, waiting[-1][-1])) is not None:
                here = _instead(here, inner)
                way.append(_identity(here))
                waiting.append(_emptied(here))
            else:
                waiting[-1].pop()
    except OSError:
        return
    finally:
        os.close(here)


def _instead(before: int, after: int) -> int:
    os.close(before)
    return after


def _entered(here: int, name: str) -> int | None:
    """Open the folder ``name``, with all rights to it; None where that cannot be had."""
    with suppress(OSError):
        found = os.open(name, _LOOK, dir_fd=here)
        try:
            if os.fstat(found).st_mode & _ALL_RIGHTS != _ALL_RIGHTS:
                # the only name of what was opened without any right; an owner may change the mode all the same
                os.chmod(f"/proc/self/fd/{found}", _ALL_RIGHTS)  # noqa: PTH101
            return os.open(f"/proc/self/fd/{found}", _ENTER & ~os.O_NOFOLLOW)
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
