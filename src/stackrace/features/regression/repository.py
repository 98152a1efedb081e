"""The git repository of an app, and the commit that a change is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError
from ...base.process import Repository, repository

_DEFAULT_BRANCHES = ("refs/remotes/origin/HEAD", "origin/main", "origin/master", "main", "master")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One commit."""

    label: str
    """Name that the user gave, ``main`` or ``HEAD~1``; or how it was found."""
    commit: str
    """Full hash of the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """A git work tree with at least one commit."""

    git: Repository

    @property
    def top(self) -> Path:
        """The uppermost folder of the work tree."""
        return self.git.top

    @property
    def head(self) -> Revision:
        """The commit that is checked out."""
        return Revision(label="HEAD", commit=self.git.head)

    def revision(self, name: str) -> Revision:
        """Return the commit that ``name`` means; raises InputError if there is none."""
        commit = self.git.commit(name)
        if commit is None:
            raise InputError(f"--base {name}: {self.top} has no such revision{self._way_out(name)}")
        return Revision(label=name, commit=commit)

    def default_base(self) -> Revision:
        """Return the commit that a change is usually compared with: where HEAD's branch left the default branch.

        On the default branch it is HEAD if files are changed, else the commit before HEAD. Raises InputError if
        HEAD is the first commit.
        """
        with whole(self.git):
            left = self.git.fork_point(*_DEFAULT_BRANCHES)
        # if HEAD is on the branch that was found, no other branch is tried: it may be years old
        if left is not None and left[1] != self.git.head:
            return Revision(label=f"where {left[0]} was left", commit=left[1])
        if self.changes():
            return self.head
        before = self.git.commit("HEAD^")
        if before is None:
            raise InputError(
                f"there is no commit before HEAD to compare with; name one with --base{self._way_out('')}"
            )
        return Revision(label="HEAD^", commit=before)

    def changes(self) -> int:
        """Return the number of files that differ from HEAD or are new, without ignored files."""
        with whole(self.git):
            status = self.git.status()
        return len(status.changed) + len(status.new)

    def changed_since(self, revision: Revision) -> list[str]:
        """Return the paths of the files that differ from ``revision`` or are new, relative to ``top``."""
        with whole(self.git):
            return self.git.changed_since(revision.commit)

    def ignored(self) -> list[Path]:
        """Return the ignored files and folders, relative to ``top``."""
        with whole(self.git):
            return [Path(name) for name in self.git.status().ignored]

    def _way_out(self, name: str) -> str:
        if self.git.is_shallow:
            return ": its clone is shallow; fetch all of its history (git fetch --unshallow, fetch-depth: 0)"
        return "; see: git branch --all" if name else ""


def repository_of(folder: Path) -> WorkTree:
    """Return the work tree that contains ``folder``; raises InputError if there is none, or if it has no commit."""
    found = repository(folder)
    if found is None:
        raise InputError(
            f"{folder} is in no git repository, so there is no base to compare with; compare two environments, "
            "settings or stacks of it instead: --head-python, --head-settings, --head-stack"
        )
    if not found.head:
        raise InputError(f"{found.top} has no commit yet, so there is no base to compare with")
    return WorkTree(git=found)


@contextmanager
def whole(git: Repository) -> Iterator[None]:
    """Raise InputError with a remedy if the clone ``git`` lacks an object that is read in this context."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(
            f"{git.top} lacks objects of its history, and nothing is fetched for a check; get them: "
            f"git -C {git.top} fetch --refetch --no-filter",
            detail=str(error.strerror),
        ) from error
