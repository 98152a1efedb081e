"""The folders of a project in which files for its deployment may lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...model.exported import MARK
from ...model.present import is_present, walk

__all__ = ["deployment_folders"]

_DEEPEST = 5
_MOST = 2000
_ASIDE = frozenset({"node_modules", "site-packages", "__pycache__", "static", "media", "locale", "migrations"})


def deployment_folders(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``root`` and the folders below it, not too deep, with the names of their folders and files.

    Folders of exported files are left out: they are what a race found, not what the project runs.
    """
    for number, (place, folders, names) in enumerate(walk(root)):
        depth = len(Path(place).relative_to(root).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DEEPEST
            and not name.startswith(".")
            and name not in _ASIDE
            and not is_present(Path(place, name, "pyvenv.cfg"))
            and not is_present(Path(place, name, MARK))
        )
        yield Path(place), folders, sorted(names)
        if number > _MOST:
            return
