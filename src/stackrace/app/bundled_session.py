"""Sessions that come with a bundled app: a race file names them ``session = "bundled:browse"``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..base.errors import InputError

__all__ = ["session_file"]

PREFIX = "bundled:"


def session_file(asked: Path, sessions: Mapping[str, Path]) -> Path:
    """Return the recording that ``asked`` stands for: one of ``sessions`` for ``bundled:NAME``, else itself.

    ``asked`` may have been made absolute. Raises InputError listing the names for one that is none.

    >>> session_file(Path("/races/bundled:browse"), {"browse": Path("browse.har")}).name
    'browse.har'
    """
    if not asked.name.startswith(PREFIX):
        return asked
    name = asked.name.removeprefix(PREFIX)
    if name not in sessions:
        known = ", ".join(sorted(sessions)) or "none"
        raise InputError(
            f"session = {asked.name!r}: the bundled app has no session of that name; known are {known}"
        )
    return sessions[name]
