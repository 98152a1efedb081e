"""How long the app itself takes: for an answer, or to load; and what a ready stack delivers of its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

__all__ = ["Burst", "PageTime", "mean_time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What a ready stack delivered while a number of connections asked it all the time, for a moment."""

    connections: int
    per_s: float
    """Right answers per second, above 0."""
    promised: int = 1
    """Processes times threads of the server that hosts the app there."""

    @property
    def response_s(self) -> float:
        """How long an answer takes then, by Little's law."""
        return self.connections / self.per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTime:
    """What one answer, or loading the app, takes without any server; zeros where nobody knows."""

    wall_s: float = 0.0
    """Seconds that pass."""
    cpu_s: float = 0.0
    """CPU seconds among them; the rest is waiting, for a database or for another site."""
    bursts: tuple[Burst, ...] = ()
    """What ready stacks deliver, the slowest of those that were asked, by connections; empty where nobody asked."""


def mean_time(times: Iterable[PageTime]) -> PageTime:
    """Return the mean of ``times``: what a request takes where each of them is asked for as often."""
    known = list(times)
    if not known:
        return PageTime()
    return PageTime(wall_s=fmean(time.wall_s for time in known), cpu_s=fmean(time.cpu_s for time in known))
