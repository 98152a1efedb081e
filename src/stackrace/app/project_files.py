"""Small files of a project's tools; what is missing, or is not what its name says, counts as empty."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..base.files import read_text

__all__ = ["first_line", "part", "table", "text"]


def text(path: Path) -> str:
    """Return what a file holds."""
    try:
        return read_text(path, errors="replace")
    except OSError:
        return ""


def first_line(path: Path) -> str:
    """Return the first line that is not blank, without blanks around it."""
    lines = text(path).strip().splitlines()
    return lines[0].strip() if lines else ""


def table(path: Path) -> dict[str, Any]:
    """Return a file of TOML."""
    try:
        return tomllib.loads(text(path))
    except (ValueError, RecursionError):
        return {}


def part(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the table called ``name`` in ``whole``."""
    found = whole.get(name)
    return found if isinstance(found, dict) else {}
