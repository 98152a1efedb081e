"""A commit beside the work tree: checked out into a temporary folder that is gone afterwards."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...deploy.environments import cache_folder
from ...deploy.privileges import serves_as_another
from ...model.errors import InputError
from ...model.units import SIZE
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
    _clear_away(repository)
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        if serves_as_another():
            home.chmod(0o755)
        with (home / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tree = home / _TREE
            try:
                repository.git("worktree", "add", "--detach", "--force", "--quiet", str(tree), revision.commit)
                if (tree / ".gitmodules").is_file():
                    repository.git("submodule", "--quiet", "update", "--init", "--recursive", folder=tree)
                yield tree, _share_ignored(repository, tree, most_bytes)
            finally:
                _remove(repository, tree)
    finally:
        _forget(home)


def _forget(home: Path) -> None:
    """Remove the folder, and the byte code that was kept of it."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.rmtree(cache_folder() / "pycache" / home.relative_to(home.anchor), ignore_errors=True)


def _remove(repository: Repository, tree: Path) -> None:
    with suppress(InputError):
        repository.git("worktree", "remove", "--force", "--force", str(tree))
    if tree.exists():
        shutil.rmtree(tree, ignore_errors=True)
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
    """Give the base what git ignores of the work tree; what is left out is said."""
    left, left_out = most_bytes, []
    for name in repository.ignored():
        here, there = repository.top / name, tree / name
        if set(name.parts) & _MADE_AGAIN or name.suffix in (".pyc", ".egg-info") or (here / "pyvenv.cfg").exists():
            continue
        if there.exists() or there.is_symlink():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if name.name in _LINKED or here.is_symlink():
            there.symlink_to(here.readlink() if here.is_symlink() else here)
            continue
        size = _size(here)
        if size > left:
            left_out.append(f"{name} ({SIZE.format(size)})")
            continue
        left -= size
        _copy(here, there)
    if not left_out:
        return ()
    return (f"The base lacks ignored files that are too large to copy ([app] copy_limit): {', '.join(left_out)}.",)


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.lstat().st_size for file in files if not file.is_dir())


def _copy(here: Path, there: Path) -> None:
    # sockets and pipes of running programs cannot be copied, and are nobody's data
    with suppress(OSError, shutil.Error):
        if here.is_dir():
            shutil.copytree(here, there, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(here, there)
