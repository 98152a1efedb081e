"""How a race is kept while it runs: a manifest, by which it can go on, and every event in the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.revision import source_digest
from ..race.events import Sink
from ..race.preparation.prepared import PreparedRace
from ..race.request.document import request_document
from ..race.request.request import RaceRequest
from ..store.manifest import ManifestFile, Opening, begin_manifest
from ..store.recorder import ManifestSink, StoreSink

if TYPE_CHECKING:
    from ..store.store import Store

__all__ = ["keepers", "opening_of"]


@contextmanager
def keepers(
    prepared: PreparedRace, opening: Opening, store: Store, manifest: ManifestFile | None = None
) -> Iterator[tuple[Sink, ...]]:
    """Yield who keeps a race, in the order in which they hear events; a race that goes on has its ``manifest``."""
    with nullcontext(manifest) if manifest else begin_manifest(opening) as file:
        # the store first: the manifest tells the end of nothing that the store does not have
        yield StoreSink(store), ManifestSink(file, prepared.begun_s, folder=prepared.folder)


def opening_of(prepared: PreparedRace, store: Store) -> Opening:
    """Return a manifest's first line."""
    app, request = prepared.plan.app, prepared.request
    return Opening(
        race=prepared.plan.race.id,
        version=prepared.plan.race.version,
        store=str(store.address),
        request=request_document(request),
        interpreter=str(app.python or app.ruby or ""),
        sources=source_digest(app, _recordings(request)),
    )


def _recordings(request: RaceRequest) -> list[Path]:
    asked = (request.session, *(workload.session for workload in request.workloads))
    return [path for path in asked if path is not None and not path.name.startswith("bundled:")]
