"""Trends as stored results: one for each app that was raced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...report.exporter import Format, written
from .joining import trend_of
from .kind import KIND

if TYPE_CHECKING:
    from ...store.store import Store


def names(store: Store) -> tuple[str, ...]:
    """Return the names of the raced apps, the last raced one first."""
    return tuple(dict.fromkeys(race.app for race in store.list(None)))


def page(name: str, store: Store) -> str:
    """Return the page of the trend of the app called ``name``."""
    return written(KIND, trend_of(name, store, folder=Path.cwd()), Format.HTML)
