"""A plain copy of the project in the run directory, for systems that forbid namespaces.

The app starts in the copy, and nothing in the copy is rewritten. If settings, variables or code name data by
absolute paths, the app would write to the originals; such paths are found before the app is served, and refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..app.app import App
from ..app.data_paths import DataPaths, ImportPaths, data_paths, database_files, import_paths
from ..base.errors import InputError, said_by, shortage_of
from ..base.files import is_present, read_text
from ..base.numbers import duration
from ..base.process.landlock import restricts
from ..base.process.view import ProtectedView, Relocation
from ..base.temporary import RUN, shortage
from ..base.text import few
from ..base.units import SIZE
from .environments import cache_folder, writable_caches
from .preparing import OnPreparing, Preparing, Step
from .project_data import (
    Copied,
    copy_below,
    copy_size_bytes,
    files_below,
    hand_over_below,
    linked_data,
)
from .surroundings import private_home, surroundings

_IMPORTS = "PYTHONPATH"
_BYTE_CODE = "PYTHONPYCACHEPREFIX"
_SEARCHED = frozenset({"PATH", _IMPORTS, _BYTE_CODE})
"""Variables with search paths for programs and modules: originals there are only read."""
_CODE = frozenset({".py", ".rb", ".ru"})
_LONGEST_TEXT_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Findings about an app's data after its settings were read in the copy."""

    data: DataPaths
    """Files, folders and servers that the copy's settings and variables lead to."""
    named: tuple[str, ...]
    """Originals that the copy names by absolute paths, each with the name of the file or variable."""
    uncovered: tuple[Path, ...]
    """Paths without a copy that the app may write to: missing paths, and paths that are too large to copy."""


class ProjectCopy:
    """A copy of ``folders`` and of the data that their links lead to, complete before any user program starts.

    ``settle`` also copies the data that an app's settings name. Raises InputError if the copies exceed
    ``most_bytes`` or the free space, or if the app would still write to originals. ``protect`` are further
    originals that the app must not write to.
    """

    def __init__(
        self,
        root: Path,
        folders: Sequence[Path],
        protect: Sequence[Path],
        run_directory: Path,
        most_bytes: float,
        on_preparing: OnPreparing,
    ) -> None:
        begun = time.monotonic()
        self.relocation = Relocation((run_directory / "copy").resolve())
        """Places of the copies."""
        self.copied = Copied()
        self.size_bytes = 0
        self._run_directory = run_directory
        self._most_bytes = most_bytes
        caches = [folder.resolve() for folder in writable_caches()]
        self._but = {run_directory.resolve(), *caches}
        self._require(*folders)
        on_preparing(Preparing(step=Step.PROJECT, subject=f"{root.name} ({SIZE.format(self.size_bytes)})"))
        self.relocation = self.relocation.with_copies(*folders, root)
        self._writable = (run_directory.resolve(), *caches)
        self._redirected = private_home(run_directory / "home", self.relocation)
        self._linked = linked_data(folders)
        self._copy([*folders, *self._new(self._linked, self._fits)])
        self._protect = protect
        self._refuse_named(_code_texts(self.relocation))
        self._took_s = time.monotonic() - begun

    @property
    def took(self) -> str:
        """Duration of copying, in words."""
        return duration(self._took_s)

    def app(self, app: App) -> App:
        """Return ``app`` with its paths in the copy; editable installs are imported from their copies.

        Raises InputError if the app would write to originals.
        """
        self._refuse_outside(database_files(replace(app, root=self.relocation.path(app.root))))
        self._refuse_named(app.environment.items())
        return _app_in_copy(app, self.relocation, _import_folders(import_paths(app, self.view), self.relocation))

    def settle(self, app: App) -> tuple[App, Settled]:
        """Copy the data that settings of ``app`` name; return the app with its paths in the copy, and findings.

        Raises InputError if there is no room, or if the app would write to originals.
        """
        begun = time.monotonic()
        moved = self.app(app)
        places = data_paths(moved, self.view)
        self._copy(self._new(self._data_copied(places), self._require))
        outside = self._refuse_outside(_present_paths(places))
        if paths := list(self.relocation.originals_in("\n".join(map(" ".join, app.prepare)))):
            raise InputError(
                f"[app] prepare names {few(paths)}, and the app runs from a copy of the project here, for a race "
                "cannot have its own view of the files; write such paths relative to the app's root"
            )
        named = self._refuse_named([*app.environment.items(), *_code_texts(self.relocation)])
        uncovered = (*outside, *(path for path in self._linked if not self.relocation.holds(path)))
        settled = Settled(data=places, named=tuple(named), uncovered=uncovered)
        for name in ("copy", "home"):
            hand_over_below(self._run_directory / name)
        self._took_s += time.monotonic() - begun
        return moved, settled

    def _refuse_outside(self, paths: Iterable[Path]) -> list[Path]:
        """Return the ``paths`` that are not copies; raise InputError if one exists or is in a copied folder."""
        outside = [path for path in paths if not self.relocation.is_copy(path)]
        _refuse_uncopied([path for path in outside if is_present(path) or self.relocation.holds(path)])
        return outside

    def _refuse_named(self, texts: Iterable[tuple[str, str]]) -> list[str]:
        """Return the originals that ``texts`` name by absolute paths, each with the name of the text.

        A text has a name, of a file or a variable, and its content. Raises InputError if an original is data.
        """
        found: dict[Path, str] = {}
        for where, text in texts:
            for path in self.relocation.originals_in(text) if where not in _SEARCHED else ():
                found.setdefault(path, where)
        data = [*self.copied.databases, *self.copied.unsteady, *self._protect]
        names = {path: f"{path} ({where})" for path, where in found.items()}
        reached = [
            path for path in found for each in data if path.is_relative_to(each) or each.is_relative_to(path)
        ]
        _refuse_uncopied([names[path] for path in dict.fromkeys(reached)])
        return [*names.values()]

    @property
    def view(self) -> ProtectedView:
        """View of the files for the app, as far as they are copied by now."""
        originals = {*self.relocation.copied.values(), *self._linked}
        closed = {*originals, *surroundings(memory=False)} if restricts() else ()
        return ProtectedView(
            relocation=self.relocation,
            read_only=tuple(closed),
            writable=self._writable,
            redirected=self._redirected,
        )

    def _fits(self, *paths: Path) -> bool:
        size = copy_size_bytes(paths, self._but, self._most_bytes - self.size_bytes)
        if size > self._most_bytes - self.size_bytes:
            return False
        self.size_bytes += size
        return True

    def _require(self, *paths: Path) -> bool:
        """Return True; raise InputError if the copies of ``paths`` would exceed the limit."""
        if not self._fits(*paths):
            raise InputError(
                f"a race cannot have its own view of the files in {few(paths)} here, and a copy would take more "
                f"than {SIZE.format(self._most_bytes)}; give more, as in [app] copy_limit = "
                f'"{SIZE.format(2 * self._most_bytes).replace(" ", "")}", or race as a user who may make namespaces'
            )
        return True

    def _new(self, paths: Iterable[Path], may: Callable[[Path], bool]) -> list[Path]:
        """Return the ``paths`` without a copy for which ``may`` returns True, and give them places for copies."""
        taken = []
        for path in sorted(paths):
            holds_copied = any(copied.is_relative_to(path) for copied in self.relocation.copied.values())
            if not holds_copied and not self.relocation.holds(path) and may(path):
                self.relocation = self.relocation.with_copies(path)
                taken.append(path)
        return taken

    def _copy(self, paths: Iterable[Path]) -> None:
        try:
            for path in paths:
                self.copied.add(copy_below(self.relocation, path, self._but))
        except OSError as error:
            raise shortage_of(error, RUN) or InputError(
                f"the project cannot be copied for the race: {said_by(error, where=True)}"
                f"{shortage(self._run_directory, RUN)}"
            ) from error

    def _data_copied(self, data: DataPaths) -> tuple[Path, ...]:
        files, folders = (tuple(filter(self.relocation.is_copy, paths)) for paths in (data.files, data.folders))
        return _present_paths(self.relocation.original(replace(data, files=files, folders=folders)))


def _present_paths(data: DataPaths) -> tuple[Path, ...]:
    return (*data.present_files, *data.present_folders)


def _app_in_copy(app: App, relocation: Relocation, imports: Sequence[Path]) -> App:
    path = relocation.path
    variables = {}
    if os.environ.get("PWD"):
        variables["PWD"] = str(path(app.root))
    if imports:
        later = filter(None, [app.environment.get(_IMPORTS)])
        variables[_IMPORTS] = os.pathsep.join([*map(str, imports), *later])
    if app.python and app.environment.get(_BYTE_CODE) == str(cache_folder() / "pycache"):
        variables[_BYTE_CODE] = str(_byte_code(app.python, relocation))
    return replace(
        app,
        root=path(app.root),
        public=app.public and path(app.public),
        static={url: path(folder) for url, folder in app.static.items()},
        environment={**app.environment, **variables},
    )


def _byte_code(python: Path, relocation: Relocation) -> Path:
    """Return a folder for byte code; byte code of the copy is removed with it, the interpreter's is cached."""
    assert relocation.root
    folder = relocation.root.with_name("pycache")
    folder.mkdir(exist_ok=True)
    for name in {python.absolute().parts[1], python.resolve().parts[1]} - {relocation.root.parts[1]}:
        kept = cache_folder() / "pycache" / name
        kept.mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(kept)
    return folder


def _import_folders(paths: ImportPaths, relocation: Relocation) -> tuple[Path, ...]:
    """Return the folders that the copies of ``paths`` are imported from; environments are not copied."""
    return tuple(dict.fromkeys(relocation.path(each) for each in paths.roots if relocation.has_copy(each)))


def _code_texts(relocation: Relocation) -> Iterator[tuple[str, str]]:
    assert relocation.root
    for path in files_below(relocation.root):
        is_code = path.suffix in _CODE or path.name.startswith(".env")
        if is_code and path.stat().st_size <= _LONGEST_TEXT_BYTES:
            yield path.name, read_text(path, errors="replace")


def _refuse_uncopied(paths: Sequence[object]) -> None:
    if paths:
        raise InputError(
            f"the app writes to {few(paths)}, which is not copied and may change: a race cannot have its own "
            "view of the files here, and a copy of the project does not move whole paths. Lead the app elsewhere "
            "by a variable, [app] env, or race as a user who may make namespaces"
        )
