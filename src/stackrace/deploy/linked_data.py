"""What a project keeps elsewhere, behind symbolic links."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..base.present import is_folder, real_path
from .databases import is_database
from .own_files import own_folders

__all__ = ["linked_data"]


def linked_data(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return where links below ``folders`` lead: to folders, and to SQLite files, that we may write to."""
    found: dict[Path, None] = {}
    for folder in folders:
        inside = real_path(folder)
        for place, subfolders, names in own_folders(folder):
            for link in (place / name for name in (*subfolders, *names) if (place / name).is_symlink()):
                target = real_path(link)
                apart = not target.is_relative_to(inside) and not inside.is_relative_to(target)
                if apart and _is_data(target):
                    found[target] = None
    return tuple(found)


def _is_data(path: Path) -> bool:
    return os.access(path, os.W_OK) and (is_folder(path) or is_database(path))
