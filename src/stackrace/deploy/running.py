"""A stack that is up."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from ..stacks.stack import Stack
from .cgroups import Group
from .rendering import Part

__all__ = ["Running", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A stack that is up."""

    stack: Stack
    host: str
    """The address of the front hop, as ``port``."""
    port: int
    directory: Path
    """The private folder of this launch."""
    parts: tuple[tuple[Part, int], ...]
    """Each process with its pid, those of the last hop first."""
    started_s: float
    """When the start began, on CLOCK_MONOTONIC."""
    ready_s: float
    """How long it took until all answers were right."""
    group: Group | None = None
    """Its control group, where it has one."""

    @property
    def hops(self) -> dict[str, tuple[int, ...]]:
        """The first process of every instance, by hop name, front first."""
        hops: dict[str, tuple[int, ...]] = {}
        for part, pid in reversed(self.parts):
            hops[part.hop] = (*hops.get(part.hop, ()), pid)
        return hops


def ended(code: int) -> str:
    """Say how a process ended, from its exit code as Python has it: negative for a signal."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
