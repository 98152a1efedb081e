"""A run of the engine that is over, and what it was sent to."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.load import Load, LoadResult, Tls
from ..model.verdict import Verdict
from ..model.workload import Workload

__all__ = ["Ran", "Target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the load goes, and what is asked.

    ``urls`` are as given. ``is_local``: the server is on this machine. ``notes`` are worth telling, one sentence
    each.
    """

    urls: tuple[str, ...]
    address: tuple[str, int] | str
    workload: Workload
    tls: Tls | None
    is_local: bool
    notes: tuple[str, ...] = ()

    @property
    def pauses(self) -> bool:
        """Whether visitors pause between their requests."""
        return any(request.think_s > 0 for request in self.workload.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run that is over: what was asked for, what came of it, and what the checks say.

    ``notes`` are worth telling, one sentence each; ``interrupted``: the user ended it.
    """

    target: Target
    load: Load
    warmup_s: float
    result: LoadResult
    verdict: Verdict
    notes: tuple[str, ...] = ()
    interrupted: bool = False
