"""A commit beside the work tree: checked out into a temporary folder that is gone afterwards."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...base.errors import InputError, said_by
from ...base.files import real_path, remove_tree, walk
from ...base.units import SIZE
from ...deploy.environments import cache_folder
from ...deploy.privileges import let_in
from ...deploy.sqlite_files import copy_as_it_is
from .repository import Repository, Revision

__all__ = ["checked_out"]

PREFIX = "stackrace-base-"
_LOCK = "lock"
_TREE = "tree"

_MADE_AGAIN = {
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".hypothesis",
    ".cache",
    ".stackrace",
}
"""Ignored folders that only hold what tools make again."""

_LINKED = {"node_modules"}
"""Ignored folders that are large and only read."""


@contextmanager
def checked_out(
    repository: Repository, revision: Revision, most_bytes: int
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield a folder that holds ``revision``, and notes for the user; it is gone afterwards.

    Ignored files are no part of any commit, and both sides share them: databases, variables, built static files.
    They are copied as far as they have no more than ``most_bytes`` together; environments are not. What an earlier
    check had to leave, because it was killed, is cleared away first. Raises InputError with git's own words.
    """
    repository.require_known_filters()
    _clear_away(repository)
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        let_in(home)
        with (home / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tree = home / _TREE
            try:
                repository.git("worktree", "add", "--detach", "--force", "--quiet", str(tree), revision.commit)
                if (tree / ".gitmodules").is_file():
                    # --checkout: its settings may name a command to run instead
                    update = ("update", "--init", "--recursive", "--checkout")
                    repository.git("submodule", "--quiet", *update, folder=tree)
                yield tree, _share_ignored(repository, tree, most_bytes)
            finally:
                _remove(repository, tree)
    finally:
        _forget(home)


def _forget(home: Path) -> None:
    """Remove the folder, and the byte code that was kept of it."""
    remove_tree(home)
    remove_tree(cache_folder() / "pycache" / home.relative_to(home.anchor))


def _remove(repository: Repository, tree: Path) -> None:
    with suppress(InputError):
        repository.git("worktree", "remove", "--force", "--force", str(tree))
    if tree.exists():
        remove_tree(tree)
        with suppress(InputError):
            repository.git("worktree", "prune")


def _clear_away(repository: Repository) -> None:
    """Remove what checks of this repository left that are not running any more."""
    for line in repository.git("worktree", "list", "--porcelain").splitlines():
        word, _, place = line.partition(" ")
        home = Path(place).parent
        if word != "worktree" or Path(place).name != _TREE or not home.name.startswith(PREFIX):
            continue
        try:
            with (home / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError:
            pass  # its folder is gone already
        _remove(repository, Path(place))
        _forget(home)


def _share_ignored(repository: Repository, tree: Path, most_bytes: int) -> tuple[str, ...]:
    """Give the base what git ignores of the work tree, the smallest first; what it lacks is said."""
    left, too_large, failed, ours = most_bytes, [], [], []
    for size, name in sorted((_size(repository.top / name), name) for name in repository.ignored()):
        here, there = repository.top / name, tree / name
        if real_path(cache_folder()).is_relative_to(real_path(here)):
            ours.append(str(name))
            continue
        if not _is_wanted(name, here) or there.exists() or there.is_symlink():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if name.name in _LINKED or here.is_symlink():
            there.symlink_to(here.readlink() if here.is_symlink() else here)
        elif size > left:
            too_large.append(f"{name} ({SIZE.format(size)})")
        else:
            left -= size
            failed += [f"{path.relative_to(repository.top)} ({why})" for path, why in _copy(here, there)]
    notes = [f"The base lacks {name}, which holds our own cache." for name in ours if name not in _MADE_AGAIN]
    if too_large:
        notes.append(
            f"The base lacks ignored files that are too large to copy ([app] copy_limit): {', '.join(too_large)}."
        )
    if failed:
        notes.append(f"The base lacks ignored files that could not be copied: {', '.join(failed)}.")
    return tuple(notes)


def _is_wanted(name: Path, here: Path) -> bool:
    """Tell whether an ignored file or folder is anybody's data: neither made again by tools nor an environment."""
    is_made_again = set(name.parts) & _MADE_AGAIN or name.suffix in (".pyc", ".egg-info")
    return not is_made_again and not (here / "pyvenv.cfg").exists()


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all in a folder; what vanishes meanwhile has none."""
    files: Iterable[Path] = (path,)
    if path.is_dir() and not path.is_symlink():
        files = (Path(place, name) for place, _, names in walk(path) for name in names)
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def _copy(here: Path, there: Path) -> list[tuple[Path, str]]:
    """Copy a file or folder; returns what could not be copied, and why."""
    failed: list[tuple[Path, str]] = []

    def copy(path: Path, target: Path) -> None:
        try:
            if path.is_symlink():
                target.symlink_to(path.readlink())
            # sockets and pipes of running programs cannot be copied, and are nobody's data
            elif path.is_file() and not copy_as_it_is(path, target):
                failed.append((path, "another program writes to it all the time"))
        except OSError as error:
            failed.append((path, said_by(error)))

    def unseen(error: OSError) -> None:
        failed.append((Path(error.filename), said_by(error)))

    folders = []
    if not here.is_dir():
        copy(here, there)
    for source, inner, names in walk(here, unseen) if here.is_dir() else ():
        below = source.removeprefix(str(here))
        if "__pycache__" in below.split("/"):
            continue
        target = f"{there}{below}"
        os.mkdir(target)  # noqa: PTH102 (as deep as it gets, a Path takes its time)
        folders.append((source, target))
        for name in (*names, *(name for name in inner if os.path.islink(f"{source}/{name}"))):  # noqa: PTH114
            copy(Path(source, name), Path(target, name))
    # last: a folder may forbid to write to it
    for source, target in reversed(folders):
        with suppress(OSError):
            shutil.copystat(source, target)
    return [(path, why) for path, why in failed if _is_there(path)]


def _is_there(path: Path) -> bool:
    """Tell whether it has not vanished meanwhile."""
    return os.path.lexists(path)
