"""What git says of the folder that an app lies in."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError, OwnerError
from ...base.numbers import duration
from ...base.process import foreign_filters, git
from ...base.text import tail

__all__ = ["Repository", "Revision", "repository_of"]

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
class Repository:
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
        try:
            commit = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
        except InputError as error:
            raise InputError(f"--base {name}: {self.top} has no such revision{self._way_out(name)}") from error
        return Revision(label=name, commit=commit)

    def default_base(self) -> Revision:
        """Return what a change is usually compared with: where it left the default branch; on that, the one before.

        On the default branch that is HEAD where files are changed, else the commit before it.
        """
        head = self.revision("HEAD")
        for name in _DEFAULT_BRANCHES:
            branch = self._known(name)
            if branch is None:
                continue
            base = self._known_merge_base(branch)
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
        return len(
            [
                line
                for line in self.git("status", "--porcelain", "-z", "-uall", "--no-renames").split("\0")
                if line[2:3] == " "
            ]
        )

    def ignored(self) -> list[Path]:
        """Return the ignored files and folders, relative to ``top``."""
        said = self.git("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return [Path(name) for name in said.split("\0") if name]

    def _known(self, name: str) -> str | None:
        try:
            return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
        except InputError:
            return None

    def _known_merge_base(self, branch: str) -> str | None:
        try:
            return self.git("merge-base", "HEAD", branch).strip()
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


def repository_of(folder: Path) -> Repository:
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
    repository = Repository(top=Path(top))
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
