"""Everything the checks may look at before a race starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..model.host import NetworkLimits
from ..model.load import Load
from ..model.race import Resources

__all__ = ["Preparation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What is known before the first launch.

    ``connections_per_s`` is the rate at which connections are expected to be opened with keep-alive off, 0 when
    nobody knows. It is an open loop's own rate; a closed loop's is the server's to say, and is not known before
    the start: there the engine tells when ports run out ("ports exhausted"). ``sockets_each`` is what a connection
    costs the process that has most of them: two in a proxy. ``over_tcp`` is False where connections are made
    through Unix sockets, which take no ports. ``disk_bytes`` and ``disk_free_bytes`` are of the file system that
    run directories lie on, 0 when there are none. ``stacks`` are up at the same time, and ``memory_bytes`` could
    be had for all of them without swapping. ``threads`` are those CPUs that are parts of one core, a tuple for
    each core; none where the server runs wherever its owner likes.
    """

    loads: tuple[Load, ...]
    cores: Resources
    limits: NetworkLimits
    connections_per_s: float = 0.0
    disk_bytes: int = 0
    disk_free_bytes: int = 0
    sockets_each: int = 2
    over_tcp: bool = True
    stacks: int = 1
    memory_bytes: float = math.inf
    threads: tuple[tuple[int, ...], ...] = ()

    @property
    def concurrency(self) -> int:
        """The highest concurrency of all loads."""
        return max((load.concurrency for load in self.loads), default=0)
