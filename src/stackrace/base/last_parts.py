"""Where a project has what an image, or another machine, calls by a place of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from .present import is_present

__all__ = ["by_last_parts"]


def by_last_parts(
    given: str, bases: Sequence[Path], fits: Callable[[Path], object] = is_present, least: int = 1
) -> Path | None:
    """Return what in the folders ``bases`` is meant by ``given``: the most of its last parts that lead anywhere.

    Only what ``fits`` counts, and at least ``least`` parts are compared: ``/app/conf/g.py`` of an image is
    the project's ``conf/g.py``.
    """
    parts = [part for part in PurePosixPath(given).parts if part not in ("/", ".", "..")]
    for start in range(len(parts) - least + 1):
        for base in bases:
            place = base.joinpath(*parts[start:])
            if fits(place):
                return place
    return None
