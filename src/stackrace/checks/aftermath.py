"""What a launched stack was found to be when it was stopped, and what was left of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Aftermath", "Complaint"]


class Complaint(StrEnum):
    """What servers write into their logs when they run out of something: the kernel's own words."""

    NO_PORTS = "Cannot assign requested address"
    NO_FILES = "Too many open files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """One launch, looked at as it ended.

    ``started_s`` is when it was started, on CLOCK_MONOTONIC; its memory's moments count from there. ``strangers``
    are ports of the stack on which a process listened that is none of its own. ``reloaders`` are its processes that
    watch the app's files, with what gave them away. ``complaints`` counts what its logs say. ``disk_bytes`` and
    ``disk_free_bytes`` are of the file system that holds its run directory, 0 when unknown. After the stop,
    ``listeners_left`` are ports on which its own sockets still listen, ``processes_left`` its living processes.
    """

    started_s: float = 0.0
    strangers: tuple[int, ...] = ()
    reloaders: tuple[str, ...] = ()
    complaints: Mapping[Complaint, int] = field(default_factory=dict)
    disk_bytes: int = 0
    disk_free_bytes: int = 0
    listeners_left: tuple[int, ...] = ()
    processes_left: int = 0
