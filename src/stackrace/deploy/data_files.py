"""Where a project keeps data: SQLite files in it, and what its symbolic links lead to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..base.present import is_folder, is_present, real_path, walk
from .sqlite_files import is_database

__all__ = ["databases_below", "linked_data"]

_NOT_ITS_DATA = frozenset({"node_modules", "__pycache__", "site-packages"})
_WALK_S = 60.0
"""The longest search in one folder."""


def databases_below(path: Path) -> Iterator[Path]:
    """Yield the SQLite files at or below ``path``, but none of packages, environments and hidden folders.

    What is not found in time is copied by the kernel when it is first opened.
    """
    if is_database(path):
        yield path
    for place, _, names in _data_folders(path):
        yield from (place / name for name in names if is_database(place / name))


def linked_data(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return where links below ``folders`` lead: to folders, and to SQLite files, that we may write to."""
    found: dict[Path, None] = {}
    for folder in folders:
        inside = real_path(folder)
        for place, subfolders, names in _data_folders(folder):
            for link in (place / name for name in (*subfolders, *names) if (place / name).is_symlink()):
                target = real_path(link)
                is_outside = not target.is_relative_to(inside) and not inside.is_relative_to(target)
                if is_outside and os.access(target, os.W_OK) and (is_folder(target) or is_database(target)):
                    found[target] = None
    return tuple(found)


def _data_folders(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``folder`` and each folder below it that holds no packages, with the names of its folders and files."""
    until = time.monotonic() + _WALK_S
    for place, folders, names in walk(folder):
        folders[:] = [name for name in folders if not _holds_packages(Path(place, name))]
        yield Path(place), folders, names
        if time.monotonic() > until:
            return


def _holds_packages(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _NOT_ITS_DATA or is_present(folder / "pyvenv.cfg")
