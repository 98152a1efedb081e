"""A project's files: the places of its data, and how to copy a folder with its data and links."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import takewhile
from pathlib import Path

from ..app.project_files import folders_below, is_environment
from ..base.files import is_folder, is_short, real_path
from ..base.process.namespaces import give_to_owner
from ..base.process.view import Relocation
from .privileges import hand_over, serves_as_another
from .sqlite_files import FileStatus, copy_as_it_is, is_database, is_side, size_bytes

_NOT_ITS_DATA = frozenset({"node_modules", "__pycache__", "site-packages"})
_WALK_S = 60.0


def databases_below(path: Path) -> Iterator[Path]:
    """Yield the SQLite files at or below ``path``, except in packages, environments and hidden folders.

    The kernel copies databases that are not found in time when they are first opened.
    """
    if is_database(path):
        yield path
    below = (place / name for place, _, names in _data_folders(path) for name in names)
    yield from filter(is_database, below)


def linked_data(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the writable folders and SQLite files outside of ``folders`` that links in ``folders`` lead to."""
    found: dict[Path, None] = {}
    for folder in folders:
        inside = real_path(folder)
        for place, subfolders, names in _data_folders(folder):
            for link in (place / name for name in (*subfolders, *names) if (place / name).is_symlink()):
                target = real_path(link)
                is_outside = not target.is_relative_to(inside) and not inside.is_relative_to(target)
                if is_outside and os.access(target, os.W_OK) and (is_folder(target) or is_database(target)):
                    found[target] = None
    return tuple(found)


def _data_folders(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``folder`` and the folders below it, without packages, that are found within ``_WALK_S``."""
    until = time.monotonic() + _WALK_S
    return takewhile(lambda _: time.monotonic() < until, folders_below(folder, _NOT_ITS_DATA))


CACHES = frozenset(
    {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs"}
)
"""Folders that tools create again."""
_SHALLOW = frozenset({".git", ".hg", ".jj", "node_modules"})
"""Folders whose files are copied and whose subfolders are linked, so that tools' own files go to the copy."""
_BLOCK_BYTES = 4096
"""Bytes of the smallest file on disk, so that many small files count as large, too."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Results of copying files that other programs may write to."""

    databases: dict[Path, int] = field(default_factory=dict)
    """Sizes in bytes of the copied SQLite files, by original."""
    unsteady: list[Path] = field(default_factory=list)
    """Originals that were written to all the time: databases have no copy, other files a mixed one."""

    mixed: list[Path] = field(default_factory=list)
    """Originals that changed between their copy and the end of copying, even after a second copy."""

    def add(self, other: Copied) -> None:
        """Add the results of more files."""
        self.databases.update(other.databases)
        self.unsteady.extend(other.unsteady)
        self.mixed.extend(other.mixed)


class _Method(Enum):
    FOLDER = auto()
    FILE = auto()
    LINK = auto()
    """A symbolic link."""
    BACK = auto()
    """Replaced by a link to the original."""


def copy_size_bytes(paths: Collection[Path], but: Collection[Path], most: float) -> int:
    """Return the bytes of a copy of ``paths`` without ``but``; counting stops above ``most``."""
    total = 0
    for path in paths:
        for each, way in _walk(path, but):
            if way is _Method.FILE:
                with suppress(OSError):
                    total += max(_BLOCK_BYTES, each.lstat().st_size)
            if total > most:
                return total
    return total


def copy_below(relocation: Relocation, original: Path, but: Collection[Path]) -> Copied:
    """Copy ``original``, a file or a folder that may not exist yet, to its place in ``relocation``.

    Paths in ``but`` are left out. Raises OSError if there is no room, or a folder is not readable.
    """
    copied = Copied()
    relocation.below(original.parent).mkdir(parents=True, exist_ok=True)
    if not original.exists():
        return copied
    folders, looks = [], {}
    for path, way in _walk(original, but):
        target = relocation.below(path)
        if way is _Method.FILE and not is_database(path) and not is_side(path) and (look := FileStatus.at(path)):
            looks[path] = look
        with suppress(FileNotFoundError):
            _copy(path, way, target, relocation, copied)
        if way is _Method.FOLDER:
            folders.append((path, target))
    for path in _changed(looks):
        looks[path] = FileStatus.at(path) or looks[path]
        with suppress(FileNotFoundError):
            copy_as_it_is(path, relocation.below(path))
    copied.mixed.extend(path for path in _changed(looks) if path not in copied.unsteady)
    # last: a folder may be read-only, and new entries change its time
    for path, target in reversed(folders):
        with suppress(FileNotFoundError):
            _liken(path, target)
    return copied


def _changed(looks: Mapping[Path, FileStatus]) -> list[Path]:
    """Return the files that still exist and have changed since ``looks``, the status of each.

    Such changes matter for databases other than SQLite's, which are folders of files that belong together.
    """
    looked = ((path, look, FileStatus.at(path)) for path, look in looks.items())
    return [path for path, look, now in looked if now is not None and not look.holds(now)]


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below ``folder`` that are no links."""
    return (path for path, way in _walk(folder, ()) if way is _Method.FILE)


def hand_over_below(folder: Path) -> None:
    """Give ``folder`` and all files below it to the user that servers run as, if that is not our own user."""
    for path, way in _walk(folder, ()) if serves_as_another() else ():
        if way in (_Method.FOLDER, _Method.FILE):
            with suppress(FileNotFoundError):
                hand_over(path)


def _walk(path: Path, but: Collection[Path]) -> Iterator[tuple[Path, _Method]]:
    waiting = [path]
    while waiting:
        path = waiting.pop()
        if path in but:
            continue
        way = _how_to_copy(path)
        yield path, way
        if way is _Method.FOLDER and path.name in _SHALLOW:
            yield from _shallow_entries(path)
        elif way is _Method.FOLDER:
            waiting += [each for each in path.iterdir() if each.name not in CACHES]


def _shallow_entries(folder: Path) -> Iterator[tuple[Path, _Method]]:
    for path in folder.iterdir():
        way = _how_to_copy(path)
        if way is not _Method.FOLDER:
            yield path, way
        elif path.name == ".bin" or not path.name.startswith("."):
            yield path, _Method.BACK


def _how_to_copy(path: Path) -> _Method:
    if path.is_symlink():
        return _Method.LINK
    if path.is_dir():
        readable = is_short(path) and os.access(path, os.R_OK | os.X_OK)
        return _Method.FOLDER if readable and not _is_installed(path) else _Method.BACK
    # sockets and pipes are linked: another program may use them
    return _Method.FILE if path.is_file() and os.access(path, os.R_OK) else _Method.BACK


def _is_installed(folder: Path) -> bool:
    return is_environment(folder) or folder.parts[-2:] == ("vendor", "bundle")


def _copy(path: Path, way: _Method, target: Path, relocation: Relocation, copied: Copied) -> None:
    match way:
        case _Method.FOLDER:
            target.mkdir(exist_ok=True)
        case _Method.FILE:
            if not copy_as_it_is(path, target):
                copied.unsteady.append(path)
            elif is_database(path):
                copied.databases[path] = size_bytes(path)
        case _Method.LINK:
            target.symlink_to(_led(path, relocation))
        case _Method.BACK:
            target.symlink_to(path)


def _led(link: Path, relocation: Relocation) -> Path:
    """Return the target for the copy of ``link``: a copy if the target is copied, else the original."""
    target = link.readlink()
    absolute = Path(os.path.normpath(link.parent / target))
    if not relocation.holds(absolute):
        return absolute
    return relocation.path(absolute) if target.is_absolute() else target


def _liken(path: Path, target: Path) -> None:
    """Give ``target`` the mode, times and owner of ``path``; if servers run as another user, that user owns it."""
    give_to_owner(target, path.stat())
    hand_over(target)
    shutil.copystat(path, target)
