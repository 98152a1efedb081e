"""Everything the checks may look at, for one launch as a whole, and what was found of it as it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..measure.launch import Launch, Slice
from ..stacks.stack import Stack

__all__ = ["Aftermath", "Complaint", "LaunchView"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchView:
    """A launch that is over: what was launched, what was measured on it, and how it ended."""

    stack: Stack
    launch: Launch
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def levels(self) -> dict[tuple[str, str], tuple[Slice, ...]]:
        """Its slices by workload and load, in order of time."""
        levels: dict[tuple[str, str], tuple[Slice, ...]] = {}
        for measured in self.launch.slices:
            level = (measured.workload, measured.load.label)
            levels[level] = (*levels.get(level, ()), measured)
        return levels

    def loaded_s(self, at_s: float) -> float:
        """Return for how long the stack had been measured at ``at_s``, counted from the launch's start."""
        moment_s = self.aftermath.started_s + at_s
        return sum(
            min(max(moment_s - result.started_at, 0.0), result.duration_s)
            for result in (measured.result for measured in self.launch.slices)
        )
