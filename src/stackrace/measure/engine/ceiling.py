"""What the engine itself reaches on this machine, against a server that does nothing."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from functools import lru_cache

from stackrace.base.errors import RefusedError, said_by
from stackrace.measure.load import Load

from . import _engine

__all__ = ["ceiling"]

TIMES, MEASURED_S = 3, 0.1
"""The best of several short looks: whatever disturbs one can only make it lower."""

_MOST_CONNECTIONS = 512
"""More change the figure by little and the preparation by much."""

_SPARE_FILES = 256


def ceiling(load: Load, *, cores: Sequence[int], server_cores: Sequence[int], threads: int | None = None) -> float:
    """Return the requests per second that the engine reaches at ``load`` with its ``threads`` on ``cores``.

    The server it is held against answers a few bytes over plain TCP from threads on ``server_cores``, so the
    figure is what no server can exceed here, not what one should reach. Takes 0.3 s, more only where the machine
    leaves it no time, and is measured once per process for the same connections, kind of connection, threads and
    cores. An open loop is held against the closed loop over as many connections.

    RefusedError: this machine has no room for the measurement.
    """
    # both ends of every connection are ours
    room = (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES) // 2
    connections = max(min(load.concurrency, _MOST_CONNECTIONS, room), 1)
    return _measured(
        connections,
        load.keep_alive,
        min(threads or len(cores) or 1, connections),
        tuple(cores),
        tuple(server_cores),
    )


@lru_cache(maxsize=64)
def _measured(
    connections: int, keep_alive: bool, threads: int, cores: tuple[int, ...], server_cores: tuple[int, ...]
) -> float:
    try:
        return max(
            _engine.ceiling(
                connections=connections,
                keep_alive=keep_alive,
                threads=threads,
                cores=cores,
                server_cores=server_cores,
                duration_s=MEASURED_S,
            )
            for _ in range(TIMES)
        )
    except (OSError, ValueError) as error:
        raise RefusedError(f"the engine's own limit cannot be measured here: {said_by(error)}") from error
