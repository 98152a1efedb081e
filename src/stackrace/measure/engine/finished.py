"""A run of the engine that is over, and what it was sent to."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.verdict import Verdict
from ..load import Load, LoadResult, Tls
from ..workload import Workload

__all__ = ["FinishedRun", "Target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the load goes, and what is asked."""

    urls: tuple[str, ...]
    """As the user gave them."""
    address: tuple[str, int] | str
    """An IP address and a port, or the path of a Unix socket."""
    workload: Workload
    tls: Tls | None
    """None for plain HTTP."""
    is_local: bool
    """Whether the server is on this machine."""
    notes: tuple[str, ...] = ()
    """What the user should know, one sentence each."""

    @property
    def pauses(self) -> bool:
        """Whether visitors pause between their requests."""
        return any(request.think_s > 0 for request in self.workload.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A run that is over: what was asked for, what came of it, and what the checks say."""

    target: Target
    load: Load
    warmup_s: float
    """How long load was applied before the recorded window, in seconds."""
    result: LoadResult
    verdict: Verdict
    notes: tuple[str, ...] = ()
    """What the user should know, one sentence each."""
    interrupted: bool = False
    """Whether the user ended it."""
