"""A run of the engine that is over, what it was sent to, and the service level objective that it kept or missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from stackrace.base.verdict import Verdict
from stackrace.measure.load import Load, LoadResult, Tls
from stackrace.measure.workload import Workload

from .histogram import QUANTILES


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


_MOST_ERRORS = 0.001
"""The share of requests that may fail or be answered wrongly."""

_MOST_UNSENT = 0.005
"""The share of requests that may never be sent."""


class Missed(StrEnum):
    """What of a goal a run missed."""

    LATENCY = "latency"
    ERRORS = "errors"
    UNSENT = "unsent"
    RIGHT_ANSWERS = "right answers"
    KEEPING_UP = "keeping up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One way in which a run missed its goal."""

    what: Missed
    value: float = 0.0
    """Seconds of a latency; of errors and unsent requests their share of all, 0 to 1; otherwise 0."""
    quantile: str | None = None
    """The quantile of a latency, a name of ``QUANTILES``."""
    is_bound: bool = False
    """Whether the latency may have been longer: some requests were never answered."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The most that quantiles of latency may be."""

    limits_s: Mapping[str, float]
    """Seconds by name of a quantile, one at least; the names are those of ``QUANTILES``."""

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles that have limits, each in (0, 1)."""
        return tuple(QUANTILES[name] for name in self.limits_s)

    def misses(self, result: LoadResult) -> Iterator[Miss]:
        """Yield each way in which ``result`` missed the goal; nothing if it kept it.

        Whether requests piled up (``KEEPING_UP``) is for the check on overload to say.
        """
        counts = result.counts
        for name, limit_s in self.limits_s.items():
            value_s = getattr(result.latency, name)
            if value_s > limit_s:
                is_bound = name in result.latency.censored
                yield Miss(what=Missed.LATENCY, value=value_s, quantile=name, is_bound=is_bound)
        if counts.errors > _MOST_ERRORS * counts.scheduled:
            yield Miss(what=Missed.ERRORS, value=counts.errors / counts.scheduled)
        if counts.unsent > _MOST_UNSENT * counts.scheduled:
            yield Miss(what=Missed.UNSENT, value=counts.unsent / counts.scheduled)
        if not counts.ok:
            yield Miss(what=Missed.RIGHT_ANSWERS)


def label(name: str) -> str:
    """Return the usual name of a quantile: p99.9 for p999."""
    return {"p999": "p99.9"}.get(name, name)
