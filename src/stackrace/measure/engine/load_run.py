"""A finished run of the engine, its target, and the service level objective that it met or missed."""

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
    """Address, workload and TLS settings of a load."""

    urls: tuple[str, ...]
    """URLs as the user gave them."""
    address: tuple[str, int] | str
    """An IP address and a port, or the path of a Unix socket."""
    workload: Workload
    tls: Tls | None
    """TLS settings; None for plain HTTP."""
    is_local: bool
    """True if the server is on this machine."""
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""

    @property
    def pauses(self) -> bool:
        """True if visitors pause between their requests."""
        return any(request.think_s > 0 for request in self.workload.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A finished run: its target, its load, its result, and the verdict of the checks."""

    target: Target
    load: Load
    warmup_s: float
    """Seconds of load before the recorded window."""
    result: LoadResult
    verdict: Verdict
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""
    interrupted: bool = False
    """True if the user ended the run."""


_MOST_ERRORS = 0.001
"""Largest share of requests that may fail or be answered wrongly."""

_MOST_UNSENT = 0.005
"""Largest share of requests that may never be sent."""


class Missed(StrEnum):
    """Part of a goal that a run missed."""

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
    """Seconds of a latency; share of all requests, 0 to 1, for errors and unsent requests; otherwise 0."""
    quantile: str | None = None
    """Quantile of the latency, a name of ``QUANTILES``."""
    is_bound: bool = False
    """True if the latency may have been longer, since some requests were never answered."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Upper limits for quantiles of latency."""

    limits_s: Mapping[str, float]
    """Limits in seconds by quantile, at least one; the names are those of ``QUANTILES``."""

    @property
    def quantiles(self) -> tuple[float, ...]:
        """Quantiles that have limits, each in (0, 1)."""
        return tuple(QUANTILES[name] for name in self.limits_s)

    def misses(self, result: LoadResult) -> Iterator[Miss]:
        """Yield each way in which ``result`` missed the goal; nothing if it met the goal.

        The check on overload decides whether requests piled up (``KEEPING_UP``).
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
