"""Which files of a project are sent: those that git tracks or does not ignore, and without git nearly all."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ....base.errors import InputError
from ....base.foreign import said_by
from ....base.present import is_present, walk
from ....base.process import git

__all__ = ["Selection", "files_below", "project_files"]

GIT_S = 60.0
"""The longest that git may take to list a work tree."""
_MADE_AGAIN = frozenset(
    {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs"}
)
"""Folders that tools make again."""
_HISTORY = frozenset({".git", ".hg", ".jj"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a project is sent."""

    top: Path
    """Its uppermost folder, without links."""
    names: tuple[Path, ...]
    """Files, links, and folders that are empty; absolute."""
    ignored: tuple[str, ...] = ()
    """What git ignores of it and no tool makes again, relative to ``top``; a folder has a slash at its end."""


def project_files(folder: Path) -> Selection:
    """Return what is sent of the project in ``folder``: with git, of the whole working copy that it lies in.

    Environments, byte code, caches of tools and the history are left out. Raises InputError for a folder that
    cannot be read, OwnerError where git refuses to say what it ignores.
    """
    folder = folder.resolve()
    top = _top(folder)
    listed = None if top is None else _tracked(top)
    if top is None or listed is None or not any(path.is_relative_to(folder) for path in listed):
        # without git, or where the project itself is ignored
        return Selection(top=folder, names=tuple(files_below(folder)))
    # as an empty folder: with it the top of the project is known as such on hosts, too
    mark = [top / ".git"] if (top / ".git").is_dir() else []
    return Selection(top=top, names=(*listed, *mark), ignored=tuple(_ignored(top)))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files, links and empty folders below ``folder``, but for environments, history and caches.

    Raises InputError for a folder that cannot be read.
    """

    def unreadable(error: OSError) -> None:
        raise InputError(
            f"{error.filename} cannot be read, and the hosts need it: {said_by(error)}; give yourself the right to "
            "read it, or move it out of the project"
        ) from error

    for place, folders, files in walk(folder, onerror=unreadable):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and not _is_left_out(here / name))
        yield from (here / name for name in sorted([*files, *links]))
        if not folders and not files and not links and here != folder:
            yield here


def _is_left_out(folder: Path) -> bool:
    return folder.name in _MADE_AGAIN | _HISTORY or _is_installed(folder)


def _is_installed(folder: Path) -> bool:
    return is_present(folder / "pyvenv.cfg") or is_present(folder / "conda-meta")


def _top(folder: Path) -> Path | None:
    said = _git(folder, "rev-parse", "--show-toplevel")
    if not said:
        return None
    top, home = Path(said.removesuffix("\n")), Path.home()
    # who keeps his settings in git has his whole home in it
    return folder if home.is_relative_to(top) else top


def _tracked(top: Path) -> list[Path] | None:
    """Return the files that git tracks or does not ignore, of modules within modules, too."""
    said = _git(top, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if said is None:
        return None
    installed = _within_installed(top)
    found = []
    for name in dict.fromkeys(filter(None, said.split("\0"))):
        path = top / name
        if installed(path.parent) or _MADE_AGAIN & set(Path(name).parts):
            continue
        if path.is_symlink() or path.is_file():
            found.append(path)
        elif path.is_dir() and not _is_left_out(path):
            # a repository of its own
            inner = _tracked(path)
            found += files_below(path) if inner is None else inner
    return found


def _within_installed(top: Path) -> Callable[[Path], bool]:
    @cache
    def within(folder: Path) -> bool:
        return folder != top and (_is_installed(folder) or within(folder.parent))

    return within


def _ignored(top: Path) -> Iterator[str]:
    said = _git(top, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z") or ""
    for name in filter(None, said.split("\0")):
        path = top / name
        is_made_again = _MADE_AGAIN & set(Path(name).parts) or path.suffix in (".pyc", ".egg-info")
        if not is_made_again and not _is_installed(path):
            yield name


def _git(folder: Path, *words: str) -> str | None:
    """Return what git says; None where it is not there, or says no."""
    try:
        ended = git(folder, *words, timeout_s=GIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if ended.returncode else os.fsdecode(ended.stdout)
