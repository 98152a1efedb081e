"""Finds the race file of a published comparison by its name."""

from __future__ import annotations

from pathlib import Path

from ..model.errors import InputError

__all__ = ["historic_file"]

PREFIX = "historic"


def historic_file(asked: Path) -> Path | None:
    """Return the race file that ``historic/NAME`` stands for, None for any other path.

    A file of the user's own by that path comes first. Raises InputError listing the names for one that is none.
    """
    if asked.parent != Path(PREFIX) or asked.exists():
        return None
    found = {path.stem: path for path in Path(__file__).parent.glob("*.toml")}
    if asked.stem not in found:
        raise InputError(f"no published comparison is called {asked.stem!r}; known are {', '.join(sorted(found))}")
    return found[asked.stem]
