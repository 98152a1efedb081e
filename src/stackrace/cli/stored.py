"""A stored race: which one is meant, and how it goes on if it was interrupted."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from ..base.errors import StoreError
from ..race.results.race import Ending, Race
from ..store.address import VARIABLE, SqliteFile, default_file
from ..store.manifest import has_manifest, is_racing

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["at_store", "go_on_with", "meant", "unfinished_note"]


def meant(race: str | None, store: Store) -> str:
    """Return the race that an argument names, by default the last one; raises StoreError where there is none."""
    chosen = race or store.latest()
    if chosen is None:
        raise StoreError("nothing has been raced yet; start with: stackrace run")
    return chosen


def go_on_with(race_id: str, store: Store) -> str:
    """Return the command that goes on with a race."""
    return f"stackrace run --resume {race_id}{at_store(store)}"


def at_store(store: Store) -> str:
    """Return the end of a command that needs ``store``; empty where that would be found anyway."""
    if store.address == default_file() or VARIABLE in os.environ:
        return ""
    address = f"sqlite:///{store.address}" if isinstance(store.address, SqliteFile) else str(store.address)
    return f" --store {shlex.quote(address)}"


def unfinished_note(race: Race, store: Store) -> str:
    """Tell how a race that was made here and has not ended goes on; empty for any other."""
    if race.ending not in (None, Ending.INTERRUPTED) or not has_manifest(race.id):
        return ""
    if is_racing(race.id):
        return "It is going on at this moment."
    return f"It was interrupted; continue with: {go_on_with(race.id, store)}"
