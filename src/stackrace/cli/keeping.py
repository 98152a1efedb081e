"""What is kept of a race so that it can go on after an interruption, and the command for it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ..apps.sources import source_digest
from ..model.race import Ending, Race
from ..spec.request import RaceRequest
from ..spec.request_document import request_document
from ..store import Opening, has_manifest, is_racing
from ..store.address import VARIABLE, SqliteFile, default_file
from .showing import data_folder
from .stage import Stage

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["go_on_with", "opening_of", "races_folder", "unfinished_note"]


def races_folder() -> Path:
    """Return where manifests lie, one folder for each race."""
    return data_folder() / "races"


def opening_of(race_id: str, version: str, request: RaceRequest, stage: Stage, store: Store) -> Opening:
    """Return a manifest's first line."""
    app = stage.loaded.app
    return Opening(
        race=race_id,
        version=version,
        store=str(store.address),
        request=request_document(request),
        interpreter=str(app.python or app.ruby or ""),
        sources=source_digest(app, _recordings(request)),
    )


def go_on_with(race_id: str, store: Store) -> str:
    """Return the command that goes on with a race; it names the store unless it would be found anyway."""
    command = f"stackrace run --resume {race_id}"
    if store.address == default_file() or VARIABLE in os.environ:
        return command
    address = f"sqlite:///{store.address}" if isinstance(store.address, SqliteFile) else str(store.address)
    return f"{command} --store {shlex.quote(address)}"


def unfinished_note(race: Race, store: Store) -> str:
    """Tell how a race that was made here and has not ended goes on; empty for any other."""
    if race.ending not in (None, Ending.INTERRUPTED) or not has_manifest(races_folder(), race.id):
        return ""
    if is_racing(races_folder(), race.id):
        return "It is going on at this moment."
    return f"It was interrupted; go on with: {go_on_with(race.id, store)}"


def _recordings(request: RaceRequest) -> list[Path]:
    asked = (request.session, *(one.session for one in request.workloads))
    return [path for path in asked if path is not None and not path.name.startswith("bundled:")]
