"""A project's own folders and files, without those of packages, environments and tools."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ..base.present import is_present, walk

__all__ = ["own_folders"]

_NOT_ITS_OWN = frozenset({"node_modules", "__pycache__", "site-packages"})
_WALK_S = 60.0
"""The longest search in one folder."""


def own_folders(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``folder`` and each folder below it, with the names of its folders and of its files."""
    until = time.monotonic() + _WALK_S
    for place, folders, names in walk(folder):
        folders[:] = [name for name in folders if not _is_foreign(Path(place, name))]
        yield Path(place), folders, names
        if time.monotonic() > until:
            return


def _is_foreign(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _NOT_ITS_OWN or is_present(folder / "pyvenv.cfg")
