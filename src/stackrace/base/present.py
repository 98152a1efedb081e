"""What is there: what lies where we have no right to look is not. ``Path``'s own methods raise."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["is_file", "is_folder", "is_present", "real_path", "walk"]


def is_file(path: Path) -> bool:
    """Tell whether ``path`` is a file, or a link to one."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Tell whether ``path`` is a folder, or a link to one."""
    return os.path.isdir(path)  # noqa: PTH112


def is_present(path: Path) -> bool:
    """Tell whether ``path`` leads to anything."""
    return os.path.exists(path)  # noqa: PTH110


def real_path(path: Path) -> Path:
    """Return ``path`` absolute and without links; from a link that leads to itself on as it is."""
    return Path(os.path.realpath(path))


def walk(
    top: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what ``os.walk`` does, from folders of any depth: before Python 3.12 that one calls itself."""
    waiting = [str(top)]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    # no Path of each, which would take its time where folders are deep
                    (folders if os.path.isdir(entry) else files).append(entry.name)  # noqa: PTH112
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield place, folders, files
        inner = (os.path.join(place, name) for name in reversed(folders))  # noqa: PTH118
        waiting += [folder for folder in inner if not os.path.islink(folder)]  # noqa: PTH114
