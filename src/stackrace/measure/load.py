"""How requests are sent, and what came back: the load engine's plan and result as plain values.

All times are seconds on CLOCK_MONOTONIC unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, pvariance
from types import MappingProxyType

from ..base.numbers import setting

_UNDEFINED: MappingProxyType[str, object] = MappingProxyType({"undefined": True})
"""Metadata of a float that may be NaN: a share of nothing."""
_FEW_ROUNDS = 20
"""In so many response times, whole rounds of answers tell the rate to 5 % at best."""
_ROUND = 5.0
"""Bins of answers that come one by one vary by chance, their variance being their mean; by so many times as much
where answers come many at once."""
_ALIKE = 1.15
"""Nine of ten latencies are at most so many times the mean where all requests are served at once."""

SIGNED: MappingProxyType[str, object] = MappingProxyType({"signed": True})
"""Metadata of a number that may be below 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """When requests are sent, over how many connections, and until when.

    Without ``rate_per_s`` the loop is closed: each of ``concurrency`` connections sends its next request when the
    last is answered. With it the loop is open: requests (or whole sessions) fall due at that rate whatever the
    server does, evenly or, with ``poisson``, at random. Exactly one of ``duration_s`` and ``requests`` bounds it.
    """

    concurrency: int
    """Connections; the most there may be in an open loop."""
    keep_alive: bool = True
    """Whether a connection carries more than one request."""
    duration_s: float | None = None
    """Length in seconds; null when bounded by requests, or fitted to the budget."""
    requests: int | None = None
    """Requests in all; null when bounded by time."""
    timeout_s: float = 10.0
    """Bound of every single request, in seconds."""
    rate_per_s: float | None = None
    """Requests due per second in an open loop; null in a closed one."""
    poisson: bool = False
    """Whether requests fall due at random moments."""
    seed: int = 0
    """Of the random moments."""
    connect_timeout_s: float | None = None
    """When opening a connection is given up, TLS included, in seconds; null: only by timeout_s."""
    requests_per_connection: int | None = None
    """After how many requests a connection is closed; null: never."""

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
            level = f"{setting(self.rate_per_s)}/s" + (" Poisson" if self.poisson else "")
        return level + ("" if self.keep_alive else " close")

    def named(self, workload: str) -> str:
        """Name the level where there are several workloads: ``static, c=20``; without a name it is the label."""
        return f"{workload}, {self.label}" if workload else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS to the server."""

    name: str
    """What is asked for (SNI), and must stand in the certificate."""
    authorities: bytes | None
    """The trusted certificates (PEM); None accepts any certificate."""
    versions: tuple[str, ...] = ("1.2", "1.3")
    """Those that may be spoken: "1.2", "1.3" or both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The accounting identity: scheduled = ok + non2xx + sum(failed) + timed_out + in_flight + unsent."""

    scheduled: int
    """Requests due."""
    ok: int
    """Right answers."""
    non2xx: int
    """Answers with another status than the expected one."""
    failed: Mapping[str, int]
    """Failures by stage: connect, tls, write, read, protocol, body."""
    timed_out: int
    """Requests given up after timeout_s."""
    in_flight: int
    """Requests unanswered at the end."""
    unsent: int
    """Requests due but never sent."""

    @property
    def errors(self) -> int:
        """Requests that were answered wrongly or not at all."""
        return self.non2xx + sum(self.failed.values()) + self.timed_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """A latency distribution in seconds, counted from the intended send time."""

    count: int
    """Requests in the distribution."""
    mean: float
    """The mean."""
    p50: float
    """The median."""
    p90: float
    """The 90th percentile."""
    p99: float
    """The 99th percentile."""
    p999: float
    """The 99.9th percentile."""
    max: float
    """The longest."""
    censored: frozenset[str] = frozenset()
    """Those that are only lower bounds ("≥"): some requests were unfinished at the end, or given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesBin:
    """One 100 ms bin of the run; latencies are those of the requests finished in it."""

    start_s: float
    """Seconds from the start of the recorded window."""
    ok: int
    """Right answers finished in it."""
    errors: int
    """Errors in it."""
    in_flight: int
    """Requests under way at its end."""
    p50_s: float
    """The median latency, in seconds."""
    p99_s: float
    """The 99th percentile of latency, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetResult:
    """The requests of one URL."""

    name: str
    """Method and path."""
    counts: Counts
    """What became of them."""
    latency: Quantiles
    """Latencies, within 0.8 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineShare:
    """What one of several engines, on a machine of its own, had of a load."""

    name: str
    """Of its machine in the cluster."""
    connections: int
    """Its own."""
    answered: int = 0
    """Right answers it got."""
    bytes_read: int = 0
    """Bytes it received."""
    bytes_written: int = 0
    """Bytes it sent."""
    late_s: float = field(default=0.0, metadata=SIGNED)
    """How long after the agreed moment its window opened, in seconds; below 0 where the clocks' offset is off."""
    clock_error_s: float = 0.0
    """Its clock's offset is off by no more than this, in seconds."""
    round_trip_s: float = 0.0
    """The median round trip from its machine to the stack's and back before the race, in seconds."""
    lag_p99_s: float = 0.0
    """The 99th percentile of the time from when a request was due until the engine turned to it, in seconds."""
    busy: float = 0.0
    """Its busiest thread's share of a core, 0 to 1."""
    stalled_s: float = 0.0
    """The longest time for which it did not run, in seconds."""
    retransmits: int = 0
    """TCP segments that its machine sent again."""
    segments_sent: int = 0
    """TCP segments that its machine sent."""
    timeouts: int = 0
    """TCP retransmission timeouts of its machine."""
    lost: bool = False
    """Whether it was lost, and what it had seen with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the engine counts beside the requests' own fates; all are sums over the recorded window.

    They come from the engine as one value, by name. A counter that a later version adds needs a default of 0.
    """

    bytes_read: int
    """Bytes received."""
    connections_opened: int
    """Connections that stood at the beginning, and those opened since."""
    reconnects: int
    """Connections that the server closed although they were to be kept, and that were opened again."""
    bytes_written: int = 0
    """Bytes sent: heads and bodies of requests, before encryption."""
    pool_waits: int = 0
    """Requests of an open loop that fell due while all connections were taken."""
    retried: int = 0
    """Requests sent again because their connection was closed as they arrived."""
    nonces_lost: int = 0
    """Answers that did not repeat their request's own nonce."""
    stale_dates: int = 0
    """Answers whose Date was more than two seconds before their request."""
    cached_answers: int = 0
    """Answers that say a cache gave them (Age, X-Cache)."""
    surplus_bytes: int = 0
    """Bytes received that belong to no answer."""
    ports_exhausted: int = 0
    """Connections that could not be opened for want of a local port (EADDRNOTAVAIL)."""
    files_exhausted: int = 0
    """Connections that could not be opened for want of a file descriptor (EMFILE, ENFILE)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult(Counters):
    """What one run of the engine saw.

    ``latency`` splits into ``lag``, opening a connection where one was needed (``connect``, and ``tls`` for its
    handshake), and ``service``.
    """

    started_at: float
    """When the recorded window began, in seconds of this machine's own clock."""
    duration_s: float
    """Length of the recorded window, in seconds."""
    counts: Counts
    """What became of the requests."""
    latency: Quantiles
    """From the moment a request was due until the end of its answer, in seconds."""
    connect: Quantiles
    """Opening a connection, in seconds."""
    histogram: bytes
    """The latency distribution in nanoseconds: HdrHistogram V2 encoding, mergeable with others'. Where some
    latencies are lower bounds, those follow as a second histogram."""
    series: tuple[SeriesBin, ...]
    """Bins of 100 ms."""
    status_classes: Mapping[str, int]
    """Answers by status class (2xx, 5xx)."""
    established_peak: int
    """Most connections established at once."""
    generator_cpu_s: float
    """CPU seconds of the engine's threads, user and system."""
    generator_wait_s: float
    """Seconds the engine's threads were ready to run but had no core."""
    generator_busy: float
    """The busiest engine thread's share of its core without spinning, 0 to 1."""
    fairness: float = field(metadata=_UNDEFINED)
    """Jain's index over the connections' request counts; 1 when all got the same."""
    dead_time: float = field(metadata=_UNDEFINED | SIGNED)
    """1 - X R/C (Little's law): the share of the connections' time with no request under way.

    A request is under way from when its connection turns to it, connecting included, until its fate is known or the
    run ends.
    """
    service: Quantiles | None = None
    """From sending a request to the end of its answer, in seconds."""
    lag: Quantiles | None = None
    """From the moment a request was due until the engine turned to it, in seconds."""
    tls: Quantiles | None = None
    """The TLS handshake, in seconds; null without any."""
    pages: Quantiles | None = None
    """A page until the last request embedded in it is answered, in seconds; null without any."""
    targets: tuple[TargetResult, ...] = ()
    """By URL, in the order of their first request; empty where there is one URL."""
    ceiling_per_s: float | None = None
    """Requests per second the engine reaches here against a server that does nothing; null when not measured."""
    generator_spin_s: float = 0.0
    """The part of the engine's CPU time in which it only spun, having nothing to do, in seconds."""
    engines: tuple[EngineShare, ...] = ()
    """The engines on other machines that sent it together; empty for the engine of this one."""
    arrivals_distance: float | None = None
    """How far the moments at which an open loop sent its requests are from uniform (Kolmogorov and Smirnov), 0 to
    1; null for a closed loop and for sessions."""

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return self.counts.ok / self.duration_s if self.duration_s > 0 else 0.0


def answered_per_s(load: Load, result: LoadResult) -> float:
    """Return the right answers per second of a recorded window.

    That is their number over its length, as a rule. Requests that begin together and wait side by side, though, are
    answered together: of 100 connections whose requests take half a second, 0.7 s hold one round of answers or two.
    Where they come in few rounds and all take about as long, Little's law says the rate: X = C·(1 − idle)/R̄. A
    loop whose queue still fills has other latencies at its beginning, so its answers are counted.

    Source: J. D. C. Little, Operations Research 9 (1961).
    """
    counted, latency = result.throughput_per_s, result.latency
    in_turn = load.is_open or load.requests is not None or load.concurrency > result.counts.ok
    if in_turn or result.counts.errors or latency.mean <= 0 or not _in_rounds(load, result):
        return counted
    if max(latency.p50, latency.p90) > _ALIKE * latency.mean or latency.p50 * _ALIKE < latency.mean:
        return counted
    by_latency = load.concurrency * (1 - result.dead_time) / latency.mean
    # whole rounds are off by one answer of each connection at most
    is_off = not abs(by_latency - counted) * result.duration_s <= load.concurrency
    return counted if is_off else by_latency


def _in_rounds(load: Load, result: LoadResult) -> bool:
    """Tell whether answers come few times, many at once; those of a single connection are such rounds."""
    if result.duration_s >= _FEW_ROUNDS * result.latency.mean:
        return False
    counts = [span.ok for span in result.series]
    return load.concurrency == 1 or (any(counts) and pvariance(counts) >= _ROUND * fmean(counts))
