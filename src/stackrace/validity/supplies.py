"""Did connections fail because this machine had no port or no file descriptor left for them?"""

from __future__ import annotations

from ..base.verdict import Finding
from .declaration import Declaration, Limits, Made
from .observation import Observation
from .texts import LOWER_CONCURRENCY, MORE_FILES, MORE_PORTS

__all__ = ["descriptors_exhausted", "ports_exhausted"]


@Declaration(
    id="ports-exhausted",
    number=18,
    title="ports exhausted",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no local port left",
    remedy={"kept": f"{MORE_PORTS}; or {LOWER_CONCURRENCY}", "closed": f"{{knob.keep}}; or {MORE_PORTS}"},
    source="connect(2), EADDRNOTAVAIL; Documentation/networking/ip-sysctl.rst",
)
def ports_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because every local port was in use (EADDRNOTAVAIL).

    The client then waits for its own ports, and the server is measured at what is left.
    """
    return ports_exhausted.judge(
        observation.result.ports_exhausted,
        cure="kept" if observation.load.keep_alive else "closed",
        clients=observation.load.concurrency,
    )


@Declaration(
    id="descriptors-exhausted",
    number=20,
    title="descriptors exhausted",
    made=(Made.SLICE, Made.RUN),
    limits=Limits(invalidates=0),
    seen="{value:count} connections could not be opened: the load engine had no file descriptor left",
    remedy=f"{MORE_FILES}; or {LOWER_CONCURRENCY}",
    source="socket(2), EMFILE and ENFILE; getrlimit(2), RLIMIT_NOFILE",
)
def descriptors_exhausted(observation: Observation) -> Finding | None:
    """A connection could not be opened because a limit on open files was reached (EMFILE, ENFILE)."""
    return descriptors_exhausted.judge(observation.result.files_exhausted, clients=observation.load.concurrency)
