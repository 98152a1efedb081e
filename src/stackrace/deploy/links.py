"""Links with plain names to the user's folders, whatever those are called.

Each server quotes in its own way, and some in none: they put in variables after, or even before, they read their
configuration, and PYTHONPATH splits at colons. A link is the same to all of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from pathlib import Path

from ..stacks.servers import PLAIN
from .privileges import hand_over

__all__ = ["plain"]

_MOST_OF_NAME = 20


def plain(path: Path, folder: Path) -> Path:
    """Return ``path``, or, where its name is not ``PLAIN``, a link to it below ``folder``, which is plain itself.

    The same path has the same link. Raises OSError where it cannot be made.
    """
    path = path.absolute()
    if PLAIN.fullmatch(str(path)):
        return path
    links = folder / "links"
    if not links.is_dir():
        links.mkdir(exist_ok=True)
        hand_over(links)
    link = links / _name(path)
    with contextlib.suppress(FileExistsError):
        link.symlink_to(path)
    return link


def _name(path: Path) -> str:
    """Return a name that tells a reader of the configuration which folder it is."""
    words = re.sub("[^A-Za-z0-9]+", "-", path.name[:_MOST_OF_NAME]).strip("-")
    return f"{words}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}".lstrip("-")
