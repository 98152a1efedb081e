"""A race on a cluster, prepared on the machines that will host its stacks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..model.preparing import OnPreparing, unheard
from ..setup.prepared import PreparedRace
from ..spec.request import RaceRequest
from .connection import Connection
from .engines import Engines
from .muster import muster
from .place import WorkerPlace

__all__ = ["prepared_on_cluster"]


@contextmanager
def prepared_on_cluster(
    request: RaceRequest, on_preparing: OnPreparing = unheard, *, first: int | None = None
) -> Iterator[PreparedRace]:
    """Prepare the race that ``request`` asks for on its cluster, and leave nothing behind there afterwards.

    Raises InputError and its kin, with the way out, before anything is started: for a cluster that is not there,
    and for machines that do not fit.
    """
    assert request.cluster is not None
    with ExitStack() as stack:
        connection = stack.enter_context(Connection(request.cluster))
        roster = muster(connection.members(), request)
        engines = Engines(connection, roster.engines) if roster.engines else None
        place = stack.enter_context(WorkerPlace(connection, roster.hosts[0], engines))
        hosted = place.open(request, first)
        yield PreparedRace(
            request=request,
            plan=hosted.plan,
            race=hosted.race,
            place=place,
            folder=None,
            left_out=hosted.left_out,
            warnings=hosted.warnings,
            begun_s=time.monotonic() - hosted.counted_s,
        )
