"""The folders of a project: up to the top of its repository, and those of exported files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..base.present import is_present

__all__ = ["MARK", "is_exported", "project_folders", "repository_folders"]

MARK = ".stackrace-export"
"""A file in each such folder."""


def is_exported(path: Path) -> bool:
    """Tell whether ``path`` is such a folder, or lies right in one or in a folder of it."""
    return any(is_present(folder / MARK) for folder in (path, *path.parents[:2]))


MOST_ABOVE = 3
"""Folders above a project that lies in no repository."""

_REPOSITORY = (".git", ".hg", ".jj")


def project_folders(root: Path) -> tuple[Path, ...]:
    """Return ``root`` and the folders above it, the nearest first, up to the top of the repository.

    Without a repository these are three at most, and never a home folder or one that all users share.
    """
    return repository_folders(root) or (root.absolute(), *_near(root.absolute()))


def repository_folders(root: Path) -> tuple[Path, ...]:
    """Return ``root`` and the folders above it, up to the top of the repository; nothing without a repository."""
    folders = (root.absolute(), *root.absolute().parents)
    top = next((place for place, folder in enumerate(folders, 1) if _is_top(folder)), 0)
    return folders[:top]


def _near(root: Path) -> Iterator[Path]:
    shared = {
        Path("/"),
        Path.home(),
        Path(tempfile.gettempdir()).absolute(),
        Path("/home"),
        Path("/srv"),
        Path("/opt"),
    }
    for folder in root.parents[:MOST_ABOVE]:
        if folder in shared:
            return
        yield folder


def _is_top(folder: Path) -> bool:
    return any(is_present(folder / name) for name in _REPOSITORY)
