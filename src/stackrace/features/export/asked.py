"""Where a project says which packages it needs: a list for pip, a lock file, or its pyproject.toml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ...app.lock_files import requirements_of
from ...app.project_files import table, table_in, text
from ...base.errors import InputError

__all__ = ["Asked", "asked_of"]

_LISTS = ("requirements.txt", "requirements/production.txt", "requirements/prod.txt", "requirements/base.txt")
_LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock")
_ELSEWHERE = re.compile(r"^\s*(-|\.|/|file:)", re.MULTILINE)
"""A line that speaks of another file of the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a project says of its packages; all is empty for one that says nothing that pip understands."""

    file: str = ""
    """What pip reads, below the project's root: a list, or pyproject.toml."""
    is_whole: bool = True
    """Whether that file speaks of no other one of the project."""
    is_hashed: bool = False
    """Whether that file has hashes."""
    lock: str = ""
    """The lock file, where that is what says it."""
    locked: str = ""
    """What it says, as requirements."""


def asked_of(root: Path) -> Asked:
    """Return where the project in ``root`` says it: what deployments install from goes first."""
    for name in _LISTS:
        if (root / name).is_file():
            listed = text(root / name)
            is_hashed = "--hash" in listed
            plain = re.sub(r"\s*\\?\n?\s*--hash[= ]\S+", "", listed)
            return Asked(file=name, is_whole=_ELSEWHERE.search(plain) is None, is_hashed=is_hashed)
    for name in _LOCKS:
        if (root / name).is_file() and (locked := _locked(root / name)):
            return Asked(lock=name, locked=locked)
    if (root / "pyproject.toml").is_file() and _can_be_installed(root / "pyproject.toml"):
        return Asked(file="pyproject.toml", is_whole=False)
    return Asked()


def _locked(path: Path) -> str:
    """Return what a lock file says; empty where it cannot be read, or speaks of other folders."""
    try:
        locked = requirements_of(path)
    except InputError:
        return ""
    return "" if _ELSEWHERE.search(locked) else locked


def _can_be_installed(pyproject: Path) -> bool:
    """Tell whether ``pip install FOLDER`` brings what the project needs; most files only configure tools."""
    read = table(pyproject)
    if table_in(read, "tool", "poetry").get("package-mode") is False:
        return False
    return bool(
        table_in(read, "project").get("dependencies")
        or table_in(read, "tool", "poetry", "dependencies").keys() - {"python"}
    )
