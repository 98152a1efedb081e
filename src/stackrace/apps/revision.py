"""Which version of a project its folder holds, as git knows it."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from ..model.source import Source
from ..process import git

__all__ = ["source_of"]

TIMEOUT_S = 10.0
_FIELDS = 2
"""Of one line of the log: hash and date."""


def source_of(folder: Path) -> Source:
    """Return what git says of the project in ``folder``; without git, or a commit, its place alone.

    Clones of one repository are one project, by the address of ``origin``; a folder without one is its own.
    """
    folder = folder.resolve()
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top:
        return Source(project=_digest(str(folder)))
    home = _git(folder, "config", "--get", "remote.origin.url") or top
    within = folder.relative_to(top) if folder.is_relative_to(top) else folder
    project = _digest(f"{_address(home)} {within}")
    fields = _git(folder, "log", "-1", "--format=%H %cI").split()
    if len(fields) != _FIELDS:
        return Source(project=project)
    commit, committed_at = fields
    changed = bool(_git(folder, "status", "--porcelain", "--untracked-files=normal", "--", "."))
    return Source(project=project, commit=commit, committed_at=committed_at, changed=changed)


def _git(folder: Path, *words: str) -> str:
    """Return what ``git`` prints, empty where it fails: a project need not have it."""
    try:
        ended = git(folder, *words, timeout_s=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if ended.returncode else ended.stdout.decode("utf-8", "replace").strip()


def _address(home: str) -> str:
    """Return an address without what differs between clones: the user, the protocol, ``.git``.

    >>> _address("git@example.com:shop/site.git") == _address("https://me@example.com/shop/site")
    True
    """
    place = home.partition("://")[2] or home.replace(":", "/", 1)
    return place.rpartition("@")[2].removesuffix("/").removesuffix(".git").lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
