"""The version of Python that a project wants, where its environment is still to be made."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from ..base.errors import InputError
from .project_files import first_line, table
from .surroundings import project_folders

__all__ = ["wanted_python"]

_NEWER_TRIED = 8
"""Versions above the least one that are looked for."""

_LEAST = re.compile(r"(?:>=|\^|~=?|==)\s*3\.(\d+)")


def wanted_python(root: Path, environ: Mapping[str, str], own: int = sys.version_info.minor) -> Path | None:
    """Return the interpreter that .python-version names, or that a pyproject.toml asks for; None where any will do.

    ``own`` is the minor version of Stackrace's own, which is taken where it is new enough. What .python-version
    names need not be installed. Raises InputError where pyproject.toml asks for a newer one than there is.
    """
    for folder in project_folders(root):
        if pinned := _pinned(folder):
            return _installed(pinned, environ)
        if words := _required(folder / "pyproject.toml"):
            least = max(map(int, _LEAST.findall(words)), default=0)
            return None if least <= own else _newer(folder / "pyproject.toml", words, least, environ)
    return None


def _pinned(folder: Path) -> str:
    number = re.match(r"3\.\d+", first_line(folder / ".python-version"))
    return number[0] if number else ""


def _required(pyproject: Path) -> str:
    """Return what ``requires-python`` says, or Poetry's own key for it."""
    match table(pyproject):
        case {"project": {"requires-python": str(words)}}:
            return words
        case {"tool": {"poetry": {"dependencies": {"python": str(words)}}}}:
            return words
    return ""


def _newer(pyproject: Path, words: str, least: int, environ: Mapping[str, str]) -> Path:
    for minor in range(least, least + _NEWER_TRIED):
        if python := _installed(f"3.{minor}", environ):
            return python
    raise InputError(
        f"{pyproject} wants Python {words}, and there is none here: install one, as with "
        f"`uv python install 3.{least}`, or give the app's interpreter with --python"
    )


def _installed(version: str, environ: Mapping[str, str]) -> Path | None:
    """Return the interpreter of ``version``, such as 3.12: pyenv's newest of it, or the one on PATH."""
    home = environ.get("PYENV_ROOT") or Path(environ.get("HOME") or Path.home()) / ".pyenv"
    installed = sorted((Path(home) / "versions").glob(f"{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}", path=environ.get("PATH"))
    return installed[-1] if installed else Path(on_path) if on_path else None
