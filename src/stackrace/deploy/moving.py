"""A project moved to a copy in the run directory, where its folders cannot be covered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..app import DataPlaces, data_places, import_places
from ..app.app import App
from ..base.errors import InputError
from ..base.foreign import said_by
from ..base.units import SIZE
from .copies import RUN, shortage
from .environments import cache_folder
from .linked_data import linked_data
from .moved_app import imports_of, moved_app
from .preparing import OnPreparing, Preparing, Step
from .project_copy import Copied, copy_below, copy_size_bytes, hand_over_below, relocate_copies
from .relocation import Relocation

__all__ = ["MovedProject", "move"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedProject:
    """What was copied, and what could not be."""

    app: App
    relocation: Relocation
    copied: Copied
    size_bytes: int
    took_s: float
    places: DataPlaces
    """What the moved app writes to."""
    strays: tuple[Path, ...]
    """Those of them that are no copies."""


def move(
    app: App, folders: Sequence[Path], run_directory: Path, most_bytes: float, on_preparing: OnPreparing
) -> MovedProject | None:
    """Copy ``folders``, and whatever else the app's settings lead to; None if they take more than ``most_bytes``.

    Raises InputError where there is no room for a copy.
    """
    begun = time.monotonic()
    mover = _Mover(run_directory, most_bytes)
    if not mover.fits(folders):
        return None
    on_preparing(Preparing(step=Step.PROJECT, subject=f"{app.name} ({SIZE.format(mover.size_bytes)})"))
    try:
        mover.copy(folders, app.root)
        imports = imports_of(import_places(app), mover.relocation)
        moved = moved_app(app, mover.relocation, imports)
        places = data_places(moved)
        linked = linked_data(folders)
        outside = [path for path in mover.outside(places, linked) if mover.fits([path])]
        if outside:
            mover.copy(outside)
            moved = moved_app(app, mover.relocation, imports)
            places = data_places(moved)
    except OSError as error:
        raise InputError(
            f"the project cannot be copied for the race: {said_by(error, where=True)}{shortage(run_directory, RUN)}"
        ) from error
    hand_over_below(run_directory / "copy")
    return MovedProject(
        app=moved,
        relocation=mover.relocation,
        copied=mover.copied,
        size_bytes=mover.size_bytes,
        took_s=time.monotonic() - begun,
        places=places,
        strays=tuple(mover.strays(places, linked)),
    )


class _Mover:
    """Copies paths below one place, and keeps count."""

    def __init__(self, run_directory: Path, most_bytes: float) -> None:
        self.relocation = Relocation((run_directory / "copy").resolve())
        self.copied = Copied()
        self.size_bytes = 0
        self._most_bytes = most_bytes
        self._but = {run_directory.resolve(), cache_folder().resolve()}

    def fits(self, paths: Sequence[Path]) -> bool:
        """Tell whether ``paths`` may be copied as well; if so they count."""
        size = copy_size_bytes(paths, self._but, self._most_bytes - self.size_bytes)
        if size > self._most_bytes - self.size_bytes:
            return False
        self.size_bytes += size
        return True

    def copy(self, paths: Sequence[Path], *names: Path) -> None:
        """Copy ``paths``, which may be known by other ``names`` as well, and let all copies name these."""
        self.relocation = self.relocation.with_copies(*paths, *names)
        for path in paths:
            self.copied.add(copy_below(self.relocation, path, self._but))
        relocate_copies(self.relocation)

    def outside(self, places: DataPlaces, linked: Sequence[Path]) -> Iterator[Path]:
        """Yield the originals of ``places``, and those of ``linked``, that were not copied."""
        for original in dict.fromkeys([*_present(self.relocation.original(places)), *linked]):
            holds_copied = any(copied.is_relative_to(original) for copied in self.relocation.copied.values())
            if not holds_copied and not self.relocation.holds(original):
                yield original

    def strays(self, places: DataPlaces, linked: Sequence[Path]) -> Iterator[Path]:
        """Yield those of ``places`` that are no copies, and those of ``linked`` that have none."""
        place = self.relocation.place
        assert place
        yield from (path for path in _present(places) if not path.is_relative_to(place))
        yield from (path for path in linked if not self.relocation.holds(path))


def _present(places: DataPlaces) -> tuple[Path, ...]:
    return (*places.present_files, *places.present_folders)
