"""How requests are sent, and what came back: the load engine's plan and result as plain values.

All times are seconds on CLOCK_MONOTONIC unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Counts", "Load", "LoadResult", "Quantiles", "SeriesBin", "TargetResult", "Tls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """When requests are sent, over how many connections, and until when.

    Without ``rate_per_s`` the loop is closed: each of ``concurrency`` connections sends its next request when the
    last is answered. With it the loop is open: requests (or whole sessions) fall due at that rate whatever the
    server does, evenly or, with ``poisson``, at random; ``concurrency`` is then the most connections there may be.

    Exactly one of ``duration_s`` and ``requests`` bounds it. ``timeout_s`` bounds every single request,
    ``connect_timeout_s`` opening a connection (TLS included; None: only by ``timeout_s``). With ``keep_alive`` a
    connection carries ``requests_per_connection`` requests, or any number.
    """

    concurrency: int
    keep_alive: bool = True
    duration_s: float | None = None
    requests: int | None = None
    timeout_s: float = 10.0
    rate_per_s: float | None = None
    poisson: bool = False
    seed: int = 0
    connect_timeout_s: float | None = None
    requests_per_connection: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether requests fall due at a rate instead of after the last answer."""
        return self.rate_per_s is not None

    @property
    def label(self) -> str:
        """The load level as reports name it: ``c=20``, ``c=20 close``, ``200/s``, ``200/s Poisson``."""
        if self.rate_per_s is None:
            level = f"c={self.concurrency}"
        else:
            level = f"{self.rate_per_s:g}/s" + (" Poisson" if self.poisson else "")
        return level + ("" if self.keep_alive else " close")

    def named(self, workload: str) -> str:
        """Name the level where there are several workloads: ``static, c=20``; without a name it is the label."""
        return f"{workload}, {self.label}" if workload else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS to the server: ``name`` is asked for (SNI) and must stand in the certificate.

    ``authorities`` are the trusted certificates (PEM); None accepts any certificate. ``versions`` holds "1.2",
    "1.3" or both.
    """

    name: str
    authorities: bytes | None
    versions: tuple[str, ...] = ("1.2", "1.3")


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
class TargetResult:
    """What became of the requests of one URL; ``name`` is method and path, latencies are within 0.8 %."""

    name: str
    counts: Counts
    latency: Quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """What one run of the engine saw.

    ``latency`` counts from the intended send time, and splits into ``lag`` (until the engine turned to the
    request), opening a connection where one was needed (``connect``, and ``tls`` for its handshake), and
    ``service`` (from sending to the end of the answer). ``pages`` times a page until the last request embedded in
    it is answered. ``histogram`` is the latency distribution in nanoseconds (HdrHistogram V2 encoding), mergeable
    with others'. ``targets`` come in the order of their first request; there are none where there is one URL only.

    ``generator_cpu_s`` and ``generator_wait_s`` are the engine threads' CPU time and run-queue wait, summed;
    ``generator_spin_s`` the part of the CPU time in which it only spun, having nothing to do, and
    ``generator_busy`` the busiest thread's share of its core without that, 0 to 1. ``ceiling_per_s`` is what the
    engine reaches here against a server that does nothing, None when that was not measured. ``fairness`` is Jain's
    index over the connections' request counts, 1 when all got the same. ``dead_time`` is the share of the
    connections' time with no request under way, 1 − X·R̄/C by Little's law; a request is under way from when its
    connection turns to it, connecting included, until its fate is known or the run ends. ``pool_waits`` counts
    requests of an open loop that fell due while all connections were taken, ``retried`` those sent again because
    their connection was closed as they arrived.

    ``nonces_lost`` counts answers without the request's own nonce, ``stale_dates`` answers whose Date is more than
    two seconds before their request, ``cached_answers`` those that say a cache gave them (Age, X-Cache).

    ``surplus_bytes`` were received but belong to no answer. ``ports_exhausted`` and ``files_exhausted`` count
    connections that could not be opened for want of a local port (EADDRNOTAVAIL) or a file descriptor (EMFILE,
    ENFILE). ``arrivals_distance`` is how far the moments at which an open loop sent its requests are from uniform,
    by Kolmogorov and Smirnov, 0 to 1; None for a closed loop, and for sessions, whose requests follow one another.
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
    service: Quantiles | None = None
    lag: Quantiles | None = None
    tls: Quantiles | None = None
    pages: Quantiles | None = None
    targets: tuple[TargetResult, ...] = ()
    ceiling_per_s: float | None = None
    generator_spin_s: float = 0.0
    pool_waits: int = 0
    retried: int = 0
    nonces_lost: int = 0
    stale_dates: int = 0
    cached_answers: int = 0
    surplus_bytes: int = 0
    ports_exhausted: int = 0
    files_exhausted: int = 0
    arrivals_distance: float | None = None

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return self.counts.ok / self.duration_s if self.duration_s > 0 else 0.0
