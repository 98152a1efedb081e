"""What git says of the folder that an app lies in, and a commit of it checked out beside the work tree."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError, OwnerError, said_by
from ...base.files import real_path, remove_tree, walk
from ...base.numbers import duration
from ...base.process import foreign_filters, git
from ...base.text import tail
from ...base.units import SIZE
from ...deploy.environments import cache_folder
from ...deploy.privileges import let_in
from ...deploy.sqlite_files import copy_as_it_is

_TIMEOUT_S = 600.0
"""Checking out a large repository from a slow disk takes minutes, and then something is wrong."""

_DEFAULT_BRANCHES = ("refs/remotes/origin/HEAD", "origin/main", "origin/master", "main", "master")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One commit."""

    label: str
    """As the user calls it: ``main``, ``HEAD~1``; or how it was found."""
    commit: str
    """Its full name."""

    @property
    def short(self) -> str:
        """Enough of its name to know it by."""
        return self.commit[:10]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repository:
    """A work tree."""

    top: Path
    """Its uppermost folder."""

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Return what git prints; raises InputError with git's own words."""
        return _git(folder or self.top, *arguments)

    def require_known_filters(self) -> None:
        """Raise InputError where the repository's own settings have filters that we do not run for them."""
        foreign = foreign_filters(self.top, timeout_s=_TIMEOUT_S)
        if foreign:
            name, value = foreign[0]
            commands = (f"git config --global {shlex.quote(name)} {shlex.quote(value)}" for name, value in foreign)
            raise InputError(
                f"{self.top} has files made by a program that its own settings name, {name} = {value}; "
                f"if you trust it, set it for yourself: {' && '.join(commands)}"
            )

    def revision(self, name: str) -> Revision:
        """Return the commit that ``name`` means; raises InputError where there is none."""
        commit = self._known(name)
        if commit is None:
            raise InputError(f"--base {name}: {self.top} has no such revision{self._way_out(name)}")
        return Revision(label=name, commit=commit)

    def default_base(self) -> Revision:
        """Return what a change is usually compared with: where it left the default branch; on that, the one before.

        On the default branch that is HEAD where files are changed, else the commit before it.
        """
        head = self.revision("HEAD")
        for name in _DEFAULT_BRANCHES:
            base = self._asked("merge-base", "HEAD", name)
            if base == head.commit:
                # nothing was left: another branch's name may be years old
                break
            if base is not None:
                return Revision(label=f"where {self._short(name)} was left", commit=base)
        if self.changes():
            return Revision(label="HEAD", commit=head.commit)
        before = self._known("HEAD^")
        if before is None:
            raise InputError(
                f"there is no commit before HEAD to compare with; name one with --base{self._way_out('')}"
            )
        return Revision(label="HEAD^", commit=before)

    def changes(self) -> int:
        """Return how many files differ from HEAD or are new; ignored ones are neither."""
        entries = self.git("status", "--porcelain", "-z", "-uall", "--no-renames").split("\0")
        return sum(entry[2:3] == " " for entry in entries)

    def ignored(self) -> list[Path]:
        """Return the ignored files and folders, relative to ``top``."""
        said = self.git("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return [Path(name) for name in said.split("\0") if name]

    def _known(self, name: str) -> str | None:
        return self._asked("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def _asked(self, *arguments: str) -> str | None:
        try:
            return self.git(*arguments).strip()
        except InputError:
            return None

    def _short(self, name: str) -> str:
        if not name.startswith("refs/"):
            return name
        return self.git("rev-parse", "--abbrev-ref", name).strip()

    def _way_out(self, name: str) -> str:
        """Say why a revision may be missing."""
        if self.git("rev-parse", "--is-shallow-repository").strip() == "true":
            return ": its clone is shallow; fetch all of its history (git fetch --unshallow, fetch-depth: 0)"
        return "; see: git branch --all" if name else ""


def repository_of(folder: Path) -> _Repository:
    """Return the work tree that ``folder`` lies in; raises InputError where there is none, or no commit in it."""
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
    except OwnerError:
        raise
    except InputError as error:
        raise InputError(
            f"{folder} is in no git repository, so there is no base to compare with; compare two environments, "
            "settings or stacks of it instead: --head-python, --head-settings, --head-stack",
            detail=error.detail,
        ) from error
    repository = _Repository(top=Path(top))
    try:
        repository.git("rev-parse", "--verify", "--quiet", "HEAD")
    except InputError as error:
        raise InputError(f"{top} has no commit yet, so there is no base to compare with") from error
    return repository


def _git(folder: Path, *arguments: str) -> str:
    try:
        # a check runs what the commit holds, and that is what filters make of it
        ended = git(folder, *arguments, timeout_s=_TIMEOUT_S, checks_out=True)
    except FileNotFoundError as error:
        raise InputError(
            "git is not installed, and a check compares commits; install it (apt install git)"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"git {arguments[0]} in {folder} took longer than {duration(_TIMEOUT_S)}") from error
    if ended.returncode:
        said = ended.stderr.decode("utf-8", "replace")
        raise InputError(f"git {arguments[0]} failed in {folder}", detail="\n".join(tail(said, 20)))
    return ended.stdout.decode("utf-8", "surrogateescape")


_PREFIX = "stackrace-base-"
_LOCK = "lock"
_TREE = "tree"

_MADE_AGAIN = {
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".hypothesis", ".cache",
    ".stackrace",
}  # fmt: skip
"""Ignored folders that only hold what tools make again."""

_LINKED = {"node_modules"}
"""Ignored folders that are large and only read."""


@contextmanager
def checked_out(
    repository: _Repository, revision: Revision, most_bytes: int
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield a folder that holds ``revision``, and notes for the user; it is gone afterwards.

    Ignored files are no part of any commit, and both sides share them: databases, variables, built static files.
    They are copied as far as they have no more than ``most_bytes`` together; environments are not. What an earlier
    check had to leave, because it was killed, is cleared away first. Raises InputError with git's own words.
    """
    repository.require_known_filters()
    _clear_away(repository)
    home = Path(tempfile.mkdtemp(prefix=_PREFIX))
    tree = home / _TREE
    with ExitStack() as held:
        held.callback(_forget, home)
        let_in(home)
        fcntl.flock(held.enter_context((home / _LOCK).open("w")), fcntl.LOCK_EX)
        held.callback(_remove, repository, tree)
        repository.git("worktree", "add", "--detach", "--force", "--quiet", str(tree), revision.commit)
        if (tree / ".gitmodules").is_file():
            # --checkout: its settings may name a command to run instead
            update = ("update", "--init", "--recursive", "--checkout")
            repository.git("submodule", "--quiet", *update, folder=tree)
        yield tree, _share_ignored(repository, tree, most_bytes)


def _forget(home: Path) -> None:
    """Remove the folder, and the byte code that was kept of it."""
    remove_tree(home)
    remove_tree(cache_folder() / "pycache" / home.relative_to(home.anchor))


def _remove(repository: _Repository, tree: Path) -> None:
    with suppress(InputError):
        repository.git("worktree", "remove", "--force", "--force", str(tree))
    if tree.exists():
        remove_tree(tree)
        with suppress(InputError):
            repository.git("worktree", "prune")


def _clear_away(repository: _Repository) -> None:
    """Remove what checks of this repository left that are not running any more."""
    for line in repository.git("worktree", "list", "--porcelain").splitlines():
        word, _, place = line.partition(" ")
        home = Path(place).parent
        if word != "worktree" or Path(place).name != _TREE or not home.name.startswith(_PREFIX):
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


def _share_ignored(repository: _Repository, tree: Path, most_bytes: int) -> tuple[str, ...]:
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
    # what has vanished meanwhile lacks nobody
    return [(path, why) for path, why in failed if os.path.lexists(path)]
