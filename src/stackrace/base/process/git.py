"""A repository, read by libgit2: no program named in its settings runs, and nothing in it is changed.

A repository's settings name programs: filters, monitors, hooks, pagers, verifiers and fetchers. A user who
unpacked an archive owns its files, so that git's check for other owners, which stays on, is not enough.
Each question runs in a process with a time limit, because reading a named pipe would block.
"""

from __future__ import annotations

import errno
import json
import os
import re
import select
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from shlex import quote
from typing import Any, cast

from ..errors import RepositoryError, said_by
from ..files import is_folder, read_text, real_path, require_files, walk
from ..text import tail
from .commands import attended
from .deadline import Deadline, tree

_SCRIPT = Path(__file__).with_name("libgit2.py")
_LIMIT_S = 5.0
"""Seconds for one question, or for a hundred written files; waiting for a core does not count."""
_STARTING_S = 600.0
_LOOKING_S = 2.0
_POLL_S = 0.1
_MOST_POINTER_BYTES = 1 << 16

_USER_SETTINGS = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""Variables with the paths of the user's settings; other GIT variables, as in a hook, name another repository."""


_Modules = Mapping[str, tuple[str | None, str]]
"""Name and commit of each submodule, by its path."""
Filtered = Mapping[str, tuple[str, int] | None]
"""Files that a filter would produce, by path: digest and size of the target of a Git LFS pointer, else None."""


def users_variables() -> dict[str, str]:
    """Return the environment of this process without variables that lead git to another repository."""
    return {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or name in _USER_SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Differences of a work tree from its commit; paths are relative to its top, folders end with a slash."""

    changed: tuple[str, ...]
    new: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A work tree and its settings.

    All methods raise RepositoryError if the repository cannot be read, and FileNotFoundError if it lacks an object.
    """

    top: Path
    """Top folder of the work tree."""
    store: Path
    """Folder of its objects, settings and modules."""
    origin: str
    """Address it was cloned from; empty if none."""
    head: str
    """Commit that is checked out; empty before the first commit."""
    committed_at: str
    """Time of that commit, in ISO 8601."""
    is_shallow: bool
    line_ends: Mapping[str, str]
    filters: Mapping[str, Mapping[str, tuple[str, bool]]]
    """Commands ``smudge`` and ``process`` of each filter, and whether they come from the user's own settings."""

    def commit(self, name: str) -> str | None:
        """Return the commit that ``name`` means; None if there is none."""
        return cast("str | None", self._ask("commit", name=name))

    def fork_point(self, *names: str) -> tuple[str, str] | None:
        """Return the first branch of ``names`` that HEAD forked from, as people write it, and the common commit.

        Return None if HEAD shares no commit with any branch.
        """
        return cast("tuple[str, str] | None", self._ask("fork_point", names=names))

    def status(self) -> Status:
        """Return the differences between the work tree and HEAD.

        No filter is run: a filtered file counts as changed if its times or its size differ, unless its Git LFS
        pointer describes it.
        """
        return Status(**{kind: tuple(names) for kind, names in self._ask("status").items()})

    def changed_since(self, commit: str) -> list[str]:
        """Return the files of the work tree that differ from ``commit`` or are new, without ignored files."""
        return list(self._ask("changed_since", commit=commit))

    def tracked(self) -> list[str]:
        """Return the files in the index."""
        return list(self._ask("tracked"))

    def write_out(self, commit: str, tree: Path, git: Path) -> tuple[_Modules, Mapping[str, Filtered]]:
        """Write the files of ``commit`` to ``tree``, and ``git`` as its repository, which borrows the objects.

        Line ends and ``$Id$`` follow the attributes. Returns the submodules, and by filter name the files that the
        filter would produce: they are written as the repository stores them.
        """
        attributes = self.store / "info/attributes"
        with suppress(FileNotFoundError, NotADirectoryError):
            text = read_text(attributes)
            (git / "info").mkdir(parents=True)
            (git / "info/attributes").write_text(text)
        words = {"tree": str(tree), "objects": str(self.store / "objects"), "line_ends": dict(self.line_ends)}
        modules, filtered = self._ask("write_out", folder=git, commit=commit, **words)
        return modules, filtered

    def _ask(self, question: str, folder: Path | None = None, **words: object) -> Any:
        return _ask(question, folder or self.top, (self.top, self.store), **words)


def repository(folder: Path) -> Repository | None:
    """Return the repository whose work tree contains ``folder``; None if there is none.

    Raises RepositoryError if it belongs to another user, or cannot be read.
    """
    folder = real_path(folder)
    for top in (folder, *folder.parents):
        if (git := _git_folder(top)) is not None:
            found = at(top, git)
            if not folder.is_relative_to(found.top):
                raise RepositoryError(
                    f"{git}/config: its core.worktree is {found.top}, where {folder} does not lie"
                )
            return found
    return None


def at(top: Path, git: Path) -> Repository:
    """Return the repository with the work tree ``top`` and the folder ``git``; raises like ``repository``.

    For a submodule, give the folder ``git`` as ``top``, too.
    """
    store = real_path(git / _pointer(git / "commondir", ""))
    _require_readable(_first_read(top, git, store))
    facts = _ask("facts", git if top == git else top, (top, git, store))
    if facts["top"] is None and top != git:
        clone = f"git clone {quote(str(git))}"
        raise RepositoryError(f"{git} is a bare repository, without a work tree; give a clone of it: {clone}")
    return Repository(**facts | {"top": real_path(Path(facts["top"] or git)), "store": store})


def _git_folder(top: Path) -> Path | None:
    """Return the folder of the repository whose work tree begins at ``top``; None if there is none.

    A folder that only looks like a repository, without ``.git``, is part of the project: anybody may have written
    its settings.
    """
    mark = top / ".git"
    if is_folder(mark):
        return mark if os.path.lexists(mark / "HEAD") else None
    found = _pointer(mark, "gitdir:")
    return top / found if found else None


def _pointer(path: Path, word: str) -> str:
    """Return the path in a file that holds only ``word`` and a path; empty for any other file."""
    _require_readable([path])
    try:
        text = read_text(path, _MOST_POINTER_BYTES, errors="surrogateescape")
    except OSError:
        return ""
    return text.removeprefix(word).strip() if text.startswith(word) else ""


_ANY = (".gitignore", ".gitattributes", ".gitmodules")
_NAMED = re.compile(
    r"^[ \t]*(?:path|excludesfile|attributesfile)[ \t]*=[ \t]*+\"?([^\"\n]+)", re.IGNORECASE | re.MULTILINE
)


def _require_readable(paths: Iterable[Path]) -> None:
    """Raise RepositoryError for the first of ``paths`` that exists and is no readable file."""
    try:
        require_files(paths)
    except OSError as error:
        raise RepositoryError(f"git's file {error.filename} cannot be read: {said_by(error)}; remove it") from error


def _first_read(top: Path, git: Path, store: Path) -> Iterator[Path]:
    """Yield the files that git reads first, and the files that the settings name."""
    yield from (git / name for name in ("HEAD", "index", "config.worktree", "info/sparse-checkout"))
    names = ("config", "packed-refs", "shallow", "info/exclude", "info/attributes", "objects/info/alternates")
    yield from (store / name for name in names)
    yield from (top / name for name in _ANY)
    with suppress(OSError, ValueError):
        for named in _NAMED.findall(read_text(store / "config", errors="surrogateescape")):
            yield store / os.path.expanduser(named.strip())  # noqa: PTH111 (of unknown users, too)


def _all_read(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield all files that git may read and that are not regular, for a few seconds at most."""
    until_s = time.monotonic() + _LOOKING_S
    for folder in folders:
        is_git = is_folder(folder / "objects")
        for place, _, names in takewhile(lambda _: time.monotonic() < until_s, walk(folder)):
            for path in (Path(place, name) for name in (names if is_git else _ANY)):
                with suppress(OSError):
                    if not stat.S_ISREG(path.lstat().st_mode):
                        yield path


def _ask(question: str, folder: Path, read: tuple[Path, ...], **words: object) -> Any:
    asked = json.dumps({"question": question, "folder": str(folder), **words})
    environment = users_variables() | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    command = (sys.executable, "-I", str(_SCRIPT), asked)
    try:
        output = _output_of(command, environment)
    except TimeoutError as error:
        _require_readable(_all_read(reversed(read)))
        raise RepositoryError(
            f"git's files of {read[0]} cannot be read within {_LIMIT_S:g} s; try it again"
        ) from error
    try:
        answer = json.loads(output.splitlines()[-1])
        if "answer" in answer:
            return answer["answer"]
        why, kind = str(answer["error"]), answer["kind"]
    except (IndexError, ValueError, TypeError):
        why, kind = " ".join(tail(output, 3)) or "its reader was killed", ""
    if kind == "owner":
        raise RepositoryError(
            f"git refuses {read[0]}, which belongs to another user; if you trust it: "
            f"git config --global --add safe.directory {read[0]}",
            detail=why,
        )
    if kind == "lacking":
        raise FileNotFoundError(errno.ENOENT, why, str(read[0]))
    _require_readable(_all_read(reversed(read)))
    raise RepositoryError(f"the git repository {read[0]} cannot be read: {why}")


def _output_of(command: Sequence[str], environment: Mapping[str, str]) -> str:
    if sys.platform == "linux":
        return attended(command, _listen, folder=Path("/"), environment=environment, stdout=subprocess.PIPE)
    # only Linux has a keeper
    try:
        done = subprocess.run(command, cwd="/", env=environment, stdout=subprocess.PIPE, timeout=_STARTING_S)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    return done.stdout.decode("utf-8", "surrogateescape")


def _listen(process: subprocess.Popen[bytes]) -> str:
    """Return the output of the reader; raise TimeoutError if it writes nothing for too long."""
    assert process.stdout
    said, limit_s = b"", _STARTING_S
    while True:
        deadline = Deadline(limit_s, lambda: tree(process.pid))
        while not select.select([process.stdout], [], [], _POLL_S)[0]:
            if deadline.is_over:
                raise TimeoutError
        if not (piece := os.read(process.stdout.fileno(), 1 << 20)):
            return said.decode("utf-8", "surrogateescape")
        said, limit_s = said + piece, _LIMIT_S
