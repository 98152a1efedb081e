"""Where services' programs are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

__all__ = ["find", "lacking", "program"]

FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def find(name: str, *folders: Path) -> str | None:
    """Return the absolute path of a program, looking in ``folders`` first, then on PATH and in the sbin folders."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", ""), *FOLDERS])
    return shutil.which(name, path=path)


def program(name: str) -> str:
    """Return the absolute path of a program, its bare name where it is not installed."""
    return find(name) or name


def lacking(*names: str) -> str:
    """Say which of the programs are not installed; empty when all are."""
    missing = [name for name in names if find(name) is None]
    return f"no program {', '.join(missing)}" if missing else ""
