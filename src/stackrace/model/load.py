"""How requests are sent, and what came back: the load engine's plan and result as plain values.

All times are seconds on CLOCK_MONOTONIC unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Counts", "Load", "LoadResult", "Quantiles", "SeriesBin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A closed loop: ``concurrency`` connections, each sending its next request when the last is answered.

    Exactly one of ``duration_s`` and ``requests`` bounds it. ``timeout_s`` bounds every single request.
    """

    concurrency: int
    keep_alive: bool = True
    duration_s: float | None = None
    requests: int | None = None
    timeout_s: float = 10.0

    @property
    def label(self) -> str:
        """The load level as reports name it: ``c=20``, ``c=20 close``."""
        return f"c={self.concurrency}" + ("" if self.keep_alive else " close")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The accounting identity: scheduled = ok + non2xx + sum(failed) + timed_out + in_flight + unsent.

    ``non2xx`` counts answers whose status was not the expected one; ``failed`` is keyed by stage: connect, tls,
    write, read, protocol, body.
    """

    scheduled: int
    ok: int
    non2xx: int
    failed: Mapping[str, int]
    timed_out: int
    in_flight: int
    unsent: int

    @property
    def errors(self) -> int:
        """Requests that were answered wrongly or not at all."""
        return self.non2xx + sum(self.failed.values()) + self.timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """A latency distribution in seconds. ``censored`` names the quantiles that are only lower bounds ("≥")."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    censored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesBin:
    """One 100 ms bin of the run: ``start_s`` from the run's start; latencies of the requests finished in it."""

    start_s: float
    ok: int
    errors: int
    in_flight: int
    p50_s: float
    p99_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """What one run of the engine saw.

    ``histogram`` is the latency distribution in nanoseconds (HdrHistogram V2 encoding), mergeable with others'.
    ``generator_cpu_s`` and ``generator_wait_s`` are the engine threads' CPU time and run-queue wait, summed;
    ``generator_busy`` the busiest thread's share of its core, 0 to 1. ``fairness`` is Jain's index over the
    connections' request counts, 1 when all got the same. ``dead_time`` is the share of the connections' time with
    no request under way, 1 − X·R̄/C by Little's law; a request is under way from when its connection turns to it,
    connecting included, until its fate is known or the run ends.
    """

    started_at: float
    duration_s: float
    counts: Counts
    latency: Quantiles
    connect: Quantiles
    histogram: bytes
    series: tuple[SeriesBin, ...]
    status_classes: Mapping[str, int]
    bytes_read: int
    connections_opened: int
    reconnects: int
    established_peak: int
    generator_cpu_s: float
    generator_wait_s: float
    generator_busy: float
    fairness: float
    dead_time: float

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return self.counts.ok / self.duration_s if self.duration_s > 0 else 0.0
