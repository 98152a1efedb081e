"""How a folder of exported files is known: what lies in it is no further app of the project around it."""

from __future__ import annotations

from pathlib import Path

from ..base.present import is_present

__all__ = ["MARK", "is_exported"]

MARK = ".stackrace-export"
"""A file in each such folder."""


def is_exported(path: Path) -> bool:
    """Tell whether ``path`` is such a folder, or lies right in one or in a folder of it."""
    return any(is_present(folder / MARK) for folder in (path, *path.parents[:2]))
