"""A stack that is up."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from ..model.stack import Stack
from .cgroups import Group
from .rendering import Part

__all__ = ["Running", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A stack that is up. ``parts`` come last hop first, each with its pid; ``started_s`` is monotonic.

    ``group`` is its control group, where it has one.
    """

    stack: Stack
    host: str
    port: int
    directory: Path
    parts: tuple[tuple[Part, int], ...]
    started_s: float
    ready_s: float
    group: Group | None = None

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
