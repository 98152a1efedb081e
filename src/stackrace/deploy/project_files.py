"""A project's files: where its data are, how a folder is copied with them, and where the app finds the copies."""

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
from .sqlite_files import FileLook, copy_as_it_is, is_database, is_side, size_bytes

_NOT_ITS_DATA = frozenset({"node_modules", "__pycache__", "site-packages"})
_WALK_S = 60.0


def databases_below(path: Path) -> Iterator[Path]:
    """Yield the SQLite files at or below ``path``, but none of packages, environments and hidden folders.

    What is not found in time is copied by the kernel when it is first opened.
    """
    if is_database(path):
        yield path
    below = (place / name for place, _, names in _data_folders(path) for name in names)
    yield from filter(is_database, below)


def linked_data(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return where links below ``folders`` lead: to folders, and to SQLite files, that we may write to."""
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
    """Yield ``folder`` and the folders below it that hold no packages, as far as they are found in time."""
    until = time.monotonic() + _WALK_S
    return takewhile(lambda _: time.monotonic() < until, folders_below(folder, _NOT_ITS_DATA))


CACHES = frozenset(
    {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs"}
)
"""Folders of what tools make again."""
_SHALLOW = frozenset({".git", ".hg", ".jj", "node_modules"})
"""Files in them are copied, and folders linked, so that what a tool keeps beside these goes to the copy."""
_BLOCK_BYTES = 4096
"""What the smallest file takes, so that many files are large, too."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of files that others may write to."""

    databases: dict[Path, int] = field(default_factory=dict)
    """The bytes of the SQLite files that were copied, by original."""
    unsteady: list[Path] = field(default_factory=list)
    """Originals to which somebody wrote all the time: of a database there is no copy, of others a mixed one."""

    mixed: list[Path] = field(default_factory=list)
    """Originals that changed between their copy and the end of copying, also when they were copied again."""

    def add(self, other: Copied) -> None:
        """Take over what became of more files."""
        self.databases.update(other.databases)
        self.unsteady.extend(other.unsteady)
        self.mixed.extend(other.mixed)


class _Way(Enum):
    FOLDER = auto()
    FILE = auto()
    LINK = auto()
    """It is a symbolic link."""
    BACK = auto()
    """By a link to the original."""


def copy_size_bytes(paths: Collection[Path], but: Collection[Path], most: float) -> int:
    """Return what a copy of ``paths`` without ``but`` takes; above ``most`` no more is counted."""
    total = 0
    for path in paths:
        for each, way in _walk(path, but):
            if way is _Way.FILE:
                with suppress(OSError):
                    total += max(_BLOCK_BYTES, each.lstat().st_size)
            if total > most:
                return total
    return total


def copy_below(relocation: Relocation, original: Path, but: Collection[Path]) -> Copied:
    """Copy ``original``, a file or a folder that need not exist yet, to where ``relocation`` has it.

    What is in ``but`` is left out. Raises OSError when there is no room, or no right to read a folder.
    """
    copied = Copied()
    relocation.below(original.parent).mkdir(parents=True, exist_ok=True)
    if not original.exists():
        return copied
    folders, looks = [], {}
    for path, way in _walk(original, but):
        target = relocation.below(path)
        if way is _Way.FILE and not is_database(path) and not is_side(path) and (look := FileLook.at(path)):
            looks[path] = look
        with suppress(FileNotFoundError):
            _copy(path, way, target, relocation, copied)
        if way is _Way.FOLDER:
            folders.append((path, target))
    for path in _changed(looks):
        looks[path] = FileLook.at(path) or looks[path]
        with suppress(FileNotFoundError):
            copy_as_it_is(path, relocation.below(path))
    copied.mixed.extend(path for path in _changed(looks) if path not in copied.unsteady)
    # last: a folder may forbid to write to it, and its time is that of its last entry
    for path, target in reversed(folders):
        with suppress(FileNotFoundError):
            _liken(path, target)
    return copied


def _changed(looks: Mapping[Path, FileLook]) -> list[Path]:
    """Return the files that are there still, and are others than when they were looked at.

    Databases other than SQLite's are folders of files that belong together.
    """
    again = ((path, look, FileLook.at(path)) for path, look in looks.items())
    return [path for path, look, now in again if now is not None and not look.holds(now)]


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below ``folder`` that are no links."""
    return (path for path, way in _walk(folder, ()) if way is _Way.FILE)


def hand_over_below(folder: Path) -> None:
    """Give all below ``folder`` to the user that servers run as, where that is somebody else than we are."""
    for path, way in _walk(folder, ()) if serves_as_another() else ():
        if way in (_Way.FOLDER, _Way.FILE):
            with suppress(FileNotFoundError):
                hand_over(path)


def _walk(path: Path, but: Collection[Path]) -> Iterator[tuple[Path, _Way]]:
    waiting = [path]
    while waiting:
        path = waiting.pop()
        if path in but:
            continue
        way = _way(path)
        yield path, way
        if way is _Way.FOLDER and path.name in _SHALLOW:
            yield from _shallow(path)
        elif way is _Way.FOLDER:
            waiting += [each for each in path.iterdir() if each.name not in CACHES]


def _shallow(folder: Path) -> Iterator[tuple[Path, _Way]]:
    for path in folder.iterdir():
        way = _way(path)
        if way is not _Way.FOLDER:
            yield path, way
        elif path.name == ".bin" or not path.name.startswith("."):
            yield path, _Way.BACK


def _way(path: Path) -> _Way:
    if path.is_symlink():
        return _Way.LINK
    if path.is_dir():
        readable = is_short(path) and os.access(path, os.R_OK | os.X_OK)
        return _Way.FOLDER if readable and not _is_installed(path) else _Way.BACK
    # sockets and pipes are where somebody listens
    return _Way.FILE if path.is_file() and os.access(path, os.R_OK) else _Way.BACK


def _is_installed(folder: Path) -> bool:
    return is_environment(folder) or folder.parts[-2:] == ("vendor", "bundle")


def _copy(path: Path, way: _Way, target: Path, relocation: Relocation, copied: Copied) -> None:
    match way:
        case _Way.FOLDER:
            target.mkdir(exist_ok=True)
        case _Way.FILE:
            if not copy_as_it_is(path, target):
                copied.unsteady.append(path)
            elif is_database(path):
                copied.databases[path] = size_bytes(path)
        case _Way.LINK:
            target.symlink_to(_led(path, relocation))
        case _Way.BACK:
            target.symlink_to(path)


def _led(link: Path, relocation: Relocation) -> Path:
    """Return where the copy of ``link`` leads: to the copy of what is copied, else to the original itself."""
    target = link.readlink()
    absolute = Path(os.path.normpath(link.parent / target))
    if not relocation.holds(absolute):
        return absolute
    return relocation.path(absolute) if target.is_absolute() else target


def _liken(path: Path, target: Path) -> None:
    """Give ``target`` the mode, times and owner of ``path``; where servers run as somebody else, they own it."""
    give_to_owner(target, path.stat())
    hand_over(target)
    shutil.copystat(path, target)
