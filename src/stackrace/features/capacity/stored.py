"""Capacities as stored results: the reports of searches, in the folder of all reports."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...cli.showing import reports_folder, write_text

if TYPE_CHECKING:
    from ...store.store import Store

_FILE = "capacity-{}.html"


def keep(report: str) -> Path:
    """Write the HTML ``report`` of a search that has just ended, and return its path."""
    return write_text(report, _path(datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")))


def names(store: Store) -> tuple[str, ...]:
    """Return the moments of all searches with a report, the last one first."""
    before, after = _FILE.split("{}")
    found = (
        path.name.removeprefix(before).removesuffix(after) for path in _path("*").parent.glob(_FILE.format("*"))
    )
    return tuple(sorted(found, reverse=True))


def page(name: str, store: Store) -> str:
    """Return the report of the search that ended at the moment ``name``."""
    return _path(name).read_text(encoding="utf-8")


def _path(name: str) -> Path:
    return reports_folder() / _FILE.format(name)
