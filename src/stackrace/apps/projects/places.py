"""Where files for a project's deployment may lie, and where it has what an image or another machine names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from ...model.exported import MARK
from ...model.last_parts import by_last_parts
from ...model.present import is_present, walk

__all__ = ["ProjectFiles", "deployment_folders"]

_DEEPEST = 5
_MOST = 2000
_ASIDE = frozenset({"node_modules", "site-packages", "__pycache__", "static", "media", "locale", "migrations"})


def deployment_folders(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``root`` and the folders below it, not too deep, with the names of their folders and files.

    Folders of exported files are left out: they are what a race found, not what the project runs.
    """
    for number, (place, folders, names) in enumerate(walk(root)):
        depth = len(Path(place).relative_to(root).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DEEPEST
            and not name.startswith(".")
            and name not in _ASIDE
            and not is_present(Path(place, name, "pyvenv.cfg"))
            and not is_present(Path(place, name, MARK))
        )
        yield Path(place), folders, sorted(names)
        if number > _MOST:
            return


class ProjectFiles:
    """The files of the project at ``root``, by the names that images and machines have for them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def named(self, name: str, bases: Iterable[Path]) -> Path | None:
        """Return the file that ``name`` means: by its last parts in ``bases``, else the only one so called."""
        inside = [base for base in dict.fromkeys(bases) if base.is_relative_to(self.root)]
        if found := by_last_parts(name, inside, Path.is_file):
            return found
        alike = self._by_name.get(PurePosixPath(name).name, ())
        return alike[0] if len(alike) == 1 else None

    def copied(self, name: str, copies: Mapping[str, str], dockerfile: Path) -> Path | None:
        """Return the file that an image has as ``name``, by what its ``dockerfile`` copies: places and sources."""
        contexts = [folder for folder in dockerfile.parents[:4] if folder.is_relative_to(self.root)]
        for target, source in reversed([*copies.items()]):
            if PurePosixPath(name).is_relative_to(target):
                inside = PurePosixPath(name).relative_to(target)
                paths = [Path(os.path.normpath(context / source.lstrip("/") / inside)) for context in contexts]
                paths += [path.parent for path in paths if path.parent.name == path.name]
                if found := next(
                    (path for path in paths if path.is_relative_to(self.root) and path.is_file()), None
                ):
                    return found
        return None

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        known: dict[str, list[Path]] = {}
        for place, _, names in deployment_folders(self.root):
            for name in names:
                known.setdefault(name, []).append(place / name)
        return known
