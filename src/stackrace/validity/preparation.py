"""Everything the checks may look at before a race starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..measure.host import NetworkLimits
from ..measure.load import Load
from ..measure.resources import Resources

__all__ = ["Preparation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """What is known before the first launch."""

    loads: tuple[Load, ...]
    cores: Resources
    limits: NetworkLimits
    connections_per_s: float = 0.0
    """The rate at which connections are expected to be opened with keep-alive off, 0 when nobody knows. It is known
    of an open loop; a closed loop's depends on the server, and there the engine tells when ports run out."""
    disk_bytes: int = 0
    """The size of the file system that run directories lie on, 0 when there are none."""
    disk_free_bytes: int = 0
    """What is free there."""
    sockets_each: int = 2
    """What a connection costs the process that has most of them: two in a proxy."""
    over_tcp: bool = True
    """False where connections are made through Unix sockets, which take no ports."""
    stacks: int = 1
    """How many are up at the same time."""
    memory_bytes: float = math.inf
    """What can be had for all of them without swapping."""
    threads: tuple[tuple[int, ...], ...] = ()
    """The CPUs of each core; empty where the server runs wherever its owner likes."""

    @property
    def concurrency(self) -> int:
        """The highest concurrency of all loads."""
        return max((load.concurrency for load in self.loads), default=0)
