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
    """One launch, looked at as it ended."""

    started_s: float = 0.0
    """When it was started, on CLOCK_MONOTONIC; its memory's moments count from there."""
    strangers: tuple[int, ...] = ()
    """Ports of the stack on which a process listened that is none of its own."""
    reloaders: tuple[str, ...] = ()
    """Its processes that watch the app's files, each as what gave it away."""
    complaints: Mapping[Complaint, int] = field(default_factory=dict)
    """How often its logs complain of each."""
    disk_bytes: int = 0
    """The size of the file system that holds its run directory, 0 when unknown."""
    disk_free_bytes: int = 0
    """What is free there."""
    listeners_left: tuple[int, ...] = ()
    """Ports on which its own sockets still listen after the stop."""
    processes_left: int = 0
    """How many of its processes still live after the stop."""
