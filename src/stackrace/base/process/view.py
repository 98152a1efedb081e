"""Protected view of the user's files: a process in a view cannot change them.

All user programs start in such a view: the interpreter with the user's modules, commands, and the config tests of
servers. Only protection creates a view (``deploy/protection.py``); tests/repository/test_starts.py finds every
other start of a process.
"""

from __future__ import annotations

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

from ..codec import map_paths
from ..errors import AppError
from ..files import real_path
from .commands import CommandResult, attended, run
from .landlock import restrict
from .namespaces import enter, seal

_T = TypeVar("_T")

_DENIED = os.strerror(errno.EACCES)
_PATH = re.compile(r"/[^\s:'\"]+")
_LONGEST_LINE = 1000


@dataclass(frozen=True, slots=True)
class Relocation:
    """Copies of folders below ``root``; without a root there are no copies, and paths do not change."""

    root: Path | None = None
    copied: Mapping[str, Path] = field(default_factory=dict)
    """Resolved originals, by every path under which the app or the user may know them."""

    def with_copies(self, *paths: Path) -> Relocation:
        """Return this relocation with ``paths`` copied as well."""
        originals = {path: real_path(path) for path in paths}
        spelled = {str(name): path for given, path in originals.items() for name in (given.absolute(), path)}
        return replace(self, copied={**self.copied, **spelled})

    def path(self, path: Path) -> Path:
        """Return the path of the copy of ``path``; ``path`` itself if it has no copy, or is a copy."""
        # the path with its links first, because the copy of a link leads to the right place itself
        for spelling in (Path(os.path.normpath(path.absolute())), real_path(path)):
            for folder, original in self.copied.items():
                if spelling.is_relative_to(folder) and not self.is_copy(spelling):
                    return self.below(original / spelling.relative_to(folder))
        return path

    def holds(self, path: Path) -> bool:
        """Tell whether ``path`` lies in a copied folder."""
        return self.path(path) != path

    def has_copy(self, path: Path) -> bool:
        """Tell whether ``path`` has a copy that is not only a link to it."""
        copy = self.path(path)
        return copy != path and copy.exists() and real_path(copy) == copy

    def is_copy(self, path: Path) -> bool:
        """Tell whether ``path`` lies in the folder of the copies."""
        return self.root is not None and path.is_relative_to(self.root)

    def below(self, original: Path) -> Path:
        """Return the path for a copy of ``original``, an absolute path."""
        assert self.root
        return self.root.joinpath(*original.parts[1:])

    def originals_in(self, text: str) -> Iterator[Path]:
        """Yield the originals with copies that ``text`` names by absolute paths.

        /app may be a folder, but also the path of a page: such short paths do not count.
        """
        if self.copied:
            longest_first = sorted(self.copied, key=len, reverse=True)
            roots = "|".join(map(re.escape, longest_first))
            for name in re.findall(rf"(?<![\w.])(?:{roots})(?![\w.-])(?:/[\w.@%+~-]+)*", text):
                if len(Path(name).parts) > 2 and self.has_copy(Path(name)):
                    yield Path(name)

    def original(self, value: _T) -> _T:
        """Return ``value``, a text, a path or a value made of them, with paths of originals in place of copies."""
        if self.root is None:
            return value
        prefix = f"{self.root}/"
        return map_paths(
            value,
            path=lambda path: Path(str(path).replace(prefix, "/")),
            text=lambda text: text.replace(prefix, "/"),
        )


@dataclass(frozen=True, slots=True)
class ProtectedView:
    """View of files for the user's processes: overlays in the namespaces of ``pid``, or plain copies of folders."""

    pid: int | None = None
    """Process that holds the namespaces; None if they are forbidden."""
    relocation: Relocation = field(default_factory=Relocation)
    """Paths of the copies; none if overlays cover the folders."""
    read_only: tuple[Path, ...] = ()
    """Originals that are read-only, except ``writable`` below them, because overlays do not cover them."""
    writable: tuple[Path, ...] = ()
    """Paths that stay writable below ``read_only``, such as what overlays cover."""
    redirected: Mapping[str, str] = field(default_factory=dict)
    """Replacements for variables such as HOME, unless the app sets its own."""
    sealed: Path | None = None
    """Only writable folder, under an overlay that is removed with the process; such a process has no network.

    None for a view that is not sealed.
    """

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return ``environment`` as variables for a process in this view."""
        redirected = {
            name: value for name, value in self.redirected.items() if environment.get(name) == os.environ.get(name)
        }
        return {**environment, **redirected}

    def is_read_only(self, path: Path) -> bool:
        """Tell whether the absolute ``path`` is read-only for a process in this view."""
        return any(map(path.is_relative_to, self.read_only)) and not any(map(path.is_relative_to, self.writable))

    def path(self, path: Path) -> Path:
        """Return the path at which this process finds the file that a process in the view finds at ``path``."""
        # an absolute link would lead out of the view again
        return path if self.pid is None else Path(f"/proc/{self.pid}/root", *real_path(path).parts[1:])

    def entering(self, folder: Path) -> Callable[[], None] | None:
        """Return a ``preexec_fn`` that makes a new process enter this view in ``folder``; None if not needed."""
        if self.sealed is not None:
            return partial(seal, self.sealed, folder)
        if self.pid is None and not self.read_only:
            return None

        def begin() -> None:
            if self.pid is not None:
                enter(self.pid)
            os.chdir(folder)
            if self.read_only:
                restrict([*map(str, self.read_only)], [*map(str, self.writable)])

        return begin

    @contextmanager
    def naming_originals(self) -> Iterator[None]:
        """Replace paths of copies in errors of the app by paths of the user's files."""
        try:
            yield
        except AppError as error:
            note = self._read_only_note(f"{error.message}\n{error.detail}")
            message, detail = self.relocation.original((error.message, error.detail))
            raise AppError(f"{message}{note}", detail=detail) from error

    def _read_only_note(self, text: str) -> str:
        """Return a sentence on the path, read-only in this view, that an error in ``text`` names; empty if none."""
        for line in (line[-_LONGEST_LINE:] for line in text.splitlines() if _DENIED in line):
            for path in filter(self.is_read_only, map(Path, _PATH.findall(line))):
                return (
                    f". Nothing is written to {path}, for a race cannot have its own view of the files here: lead "
                    "the app elsewhere by a variable, [app] env, or race as a user who may make namespaces"
                )
        return ""

    def run(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> CommandResult:
        """Run ``command`` to its end in this view, started in ``folder``; see ``commands.run``."""
        current = self.relocation.path(folder)
        begin = self.entering(current)
        return run(
            command, folder=current, environment=self.variables(environment), timeout_s=timeout_s, begin=begin
        )

    def attended(
        self,
        command: Sequence[str],
        attend: Callable[[subprocess.Popen[bytes]], _T],
        *,
        folder: Path,
        environment: Mapping[str, str],
        stdin: IO[bytes] | int = subprocess.DEVNULL,
        stdout: IO[bytes] | int = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> _T:
        """Start ``command`` in this view, in ``folder``, and attend it; see ``commands.attended``."""
        current = self.relocation.path(folder)
        return attended(
            command,
            attend,
            folder=current,
            environment=self.variables(environment),
            stdin=stdin,
            stdout=stdout,
            pass_fds=pass_fds,
            begin=self.entering(current),
        )


UNPROTECTED = ProtectedView()
"""View for our own programs, bundled apps and plain files: no user code runs in it."""
