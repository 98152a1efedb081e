"""Packages that lie in the project itself, without an environment: PEP 582, as PDM keeps them."""

from __future__ import annotations

import re
from pathlib import Path

from .surroundings import project_folders

__all__ = ["all_local_packages", "local_packages"]


def local_packages(root: Path, python: Path | None) -> Path | None:
    """Return the folder that ``python`` finds the packages of the project in ``root`` in; None without one.

    An environment has packages of its own. An interpreter whose name has no version fits if nothing else does.
    """
    if python is None or (python.parent.parent / "pyvenv.cfg").is_file():
        return None
    places = all_local_packages(root)
    version = re.fullmatch(r"python(3\.\d+)", python.resolve().name)
    if version is None:
        return places[0] if len(places) == 1 else None
    return next((place for place in places if place.parent.name == version[1]), None)


def all_local_packages(root: Path) -> list[Path]:
    """Return such folders for all versions of Python."""
    return [place for folder in project_folders(root) for place in sorted(folder.glob("__pypackages__/3.*/lib"))]
