"""Finds published comparisons, and their parts, by the names people type."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InputError
from ...base.text import did_you_mean

__all__ = ["FILE", "FOLDER", "NAMES", "PREFIX", "comparison_name", "part_file"]

PREFIX = "historic"
FILE = "comparison.toml"
FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{FILE}")))
"""All of them."""


def comparison_name(asked: str | Path) -> str | None:
    """Return the NAME of ``historic/NAME``, None for anything else.

    A file of the user's own by that path comes first. Raises InputError listing the names for one that is none.
    """
    path = Path(asked)
    if path.parent != Path(PREFIX) or path.is_file():
        return None
    if path.name not in NAMES:
        raise InputError(f"there is no published comparison {path.name!r}; known: {', '.join(NAMES)}")
    return path.name


def part_file(asked: Path) -> Path | None:
    """Return the race file of ``historic/NAME/PART``, with ``.toml`` or without, None for any other path.

    Raises InputError naming the parts of a comparison that has none of that name.
    """
    if asked.parent.parent != Path(PREFIX) or asked.parent.name not in NAMES or asked.exists():
        return None
    files = {path.stem: path for path in (FOLDER / asked.parent.name).glob("*.toml") if path.name != FILE}
    stem = asked.name.removesuffix(".toml")
    if stem not in files:
        raise InputError(f"{asked.parent} has no part called {stem!r}{did_you_mean(stem, files)}")
    return files[stem]
