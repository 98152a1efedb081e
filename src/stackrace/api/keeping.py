"""What is kept of a race when it begins, so that it can go on after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..apps.sources import source_digest
from ..setup.stage import Stage
from ..spec.request import RaceRequest
from ..spec.request_document import request_document
from ..store import Opening

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["opening_of"]


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


def _recordings(request: RaceRequest) -> list[Path]:
    asked = (request.session, *(one.session for one in request.workloads))
    return [path for path in asked if path is not None and not path.name.startswith("bundled:")]
