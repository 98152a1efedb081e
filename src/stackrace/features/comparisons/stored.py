"""Published comparisons as stored results: the last rerun of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report.exporter import Format, written
from .kind import KIND
from .named import NAMES
from .raced_again import last_rerun, rerun_files

if TYPE_CHECKING:
    from ...store.store import Store


def names(store: Store) -> tuple[str, ...]:
    """Return the names of all comparisons that were run again."""
    return tuple(filter(rerun_files, NAMES))


def page(name: str, store: Store) -> str:
    """Return the page of the last rerun of the comparison called ``name``."""
    return written(KIND, last_rerun(name, store), Format.HTML)
