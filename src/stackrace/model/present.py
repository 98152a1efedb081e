"""Whether something is there: what lies where we have no right to look is not. ``Path``'s own methods raise."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_file", "is_folder", "is_present", "real_path"]


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
