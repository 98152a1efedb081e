"""Incidents: something that happens to a running stack while it is under load, such as a reload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..measure.engine.engine import EngineRun
from ..measure.probe import clients
from .guard import Guard
from .running_stack import Running


@dataclass(frozen=True, slots=True, kw_only=True)
class HopPids:
    """Processes of one instance of a hop, by role."""

    hop: str
    first: int
    """Process that the launch started: the master of a server with workers."""
    code: int | None
    """Exit code of the first process, negative for a signal; None while it runs."""
    workers: frozenset[int]
    """Living processes below it: workers and their helpers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedStack:
    """A running stack under load, as an incident gets it."""

    running: Running
    guard: Guard
    engine: EngineRun

    @property
    def right(self) -> int:
        """Right answers so far; see ``EngineRun.right``."""
        return self.engine.right

    @property
    def processes(self) -> tuple[HopPids, ...]:
        """Processes at this moment, by instance, in the order of ``running.parts``."""
        states = self.guard.status([pid for _, pid in self.running.parts])
        return tuple(
            HopPids(hop=part.hop, first=pid, code=states[pid].code, workers=frozenset(states[pid].alive) - {pid})
            for part, pid in self.running.parts
        )

    @property
    def clients(self) -> frozenset[int]:
        """Ports of the clients that are connected to the front at this moment."""
        return clients(self.running.port)


Incident = Callable[[LoadedStack], None]
"""Function that makes something happen to a stack under load, and returns when it is over."""
