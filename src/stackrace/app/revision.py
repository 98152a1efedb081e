"""Which version of a project its folder holds, as git knows it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from ..base.process import git
from .source import Source

__all__ = ["project_of", "source_of"]

TIMEOUT_S = 60.0
_FIELDS = 3
"""Of what git prints of a commit: a word, its hash, its date."""
_GITLINK = "160000 "


def project_of(folder: Path) -> str:
    """Return the digest that says which project is in ``folder``; without git it is known by its place.

    Clones of one repository are one project, by the address of ``origin``; a folder without one is its own. Raises
    OwnerError where git refuses a repository that belongs to another user.
    """
    folder = folder.resolve()
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not top:
        return _digest(str(folder))
    home = _git(folder, "config", "--get", "remote.origin.url") or top
    within = folder.relative_to(top) if folder.is_relative_to(top) else folder
    return _digest(f"{_address(home)} {within}")


def source_of(folder: Path) -> Source:
    """Return what git says of the project in ``folder``; without git, or a commit, its place alone.

    Raises OwnerError as ``project_of`` does.
    """
    project = project_of(folder)
    fields = _git(folder, "rev-list", "--max-count=1", "--format=%cI", "HEAD", "--").split()
    if len(fields) != _FIELDS:
        return Source(project=project)
    _, commit, committed_at = fields
    return Source(project=project, commit=commit, committed_at=committed_at, changed=_is_changed(folder))


def _is_changed(folder: Path) -> bool:
    """Tell whether files below ``folder`` differ from the commit.

    No filter is run: a file that passes through one counts as changed as soon as its times or its size differ. A
    submodule has settings of its own, so it is asked by itself.
    """
    untouched = ("--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
    if _git(folder, "status", "--porcelain", *untouched, "--", "."):
        return True
    listed = _git(folder, "ls-files", "--stage", "-z", "--", ".").split("\0")
    modules = (folder / line.partition("\t")[2] for line in listed if line.startswith(_GITLINK))
    return any(_is_changed(module) for module in modules if (module / ".git").exists())


def _git(folder: Path, *words: str) -> str:
    """Return what ``git`` prints, empty where it fails: a project need not have it."""
    try:
        ended = git(folder, *words, timeout_s=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if ended.returncode else os.fsdecode(ended.stdout).strip()


def _address(home: str) -> str:
    """Return an address without what differs between clones: the user, the protocol, ``.git``.

    >>> _address("git@example.com:shop/site.git") == _address("https://me@example.com/shop/site")
    True
    """
    place = home.partition("://")[2] or home.replace(":", "/", 1)
    return place.rpartition("@")[2].removesuffix("/").removesuffix(".git").lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
