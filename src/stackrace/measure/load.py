"""Plan and result of the load engine as plain values.

All times are seconds on CLOCK_MONOTONIC unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, pvariance
from types import MappingProxyType

from ..base.numbers import count, setting

_UNDEFINED: MappingProxyType[str, object] = MappingProxyType({"undefined": True})
"""Metadata of a float that may be NaN, such as a share of nothing."""
_FEW_ROUNDS = 20
"""Least length of a window in response times; in shorter ones, a count of whole rounds is 5 % off or more."""
_ROUND = 5.0
"""Least ratio of variance to mean of the answers in a bin that shows rounds. The ratio is 1 if answers come one by
one, by chance, and higher if many come at once."""
_ALIKE = 1.15
"""Largest ratio of the 90th percentile of latency to the mean if all requests are served at once."""

MOST_HELD = 5000
"""Most silent connections beside a load, and most idle ones."""

SIGNED: MappingProxyType[str, object] = MappingProxyType({"signed": True})
"""Metadata of a number that may be negative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Schedule, connections and end of a load.

    Without ``rate_per_s`` the loop is closed: each of ``concurrency`` connections sends its next request when the
    last is answered. With it the loop is open: requests (or whole sessions) are due at that rate whatever the
    server does, evenly or, with ``poisson``, at random. Exactly one of ``duration_s`` and ``requests`` limits it.
    """

    concurrency: int
    """Number of connections; the maximum in an open loop."""
    keep_alive: bool = True
    """True if a connection carries more than one request."""
    duration_s: float | None = None
    """Length in seconds; null if limited by requests, or fitted to the budget."""
    requests: int | None = None
    """Number of requests in all; null if limited by time."""
    timeout_s: float = 10.0
    """Timeout of every single request, in seconds."""
    rate_per_s: float | None = None
    """Requests due per second in an open loop; null in a closed one."""
    poisson: bool = False
    """True if requests are due at random moments."""
    seed: int = 0
    """Seed of the random moments."""
    connect_timeout_s: float | None = None
    """Timeout for opening a connection, including TLS, in seconds; null: only timeout_s applies."""
    requests_per_connection: int | None = None
    """Number of requests after which a connection is closed; null: never."""
    silent: int = 0
    """Connections beside the load that are opened and send nothing."""
    idle: int = 0
    """Connections beside the load that are kept open after one answer."""

    @property
    def is_open(self) -> bool:
        """True if requests are due at a rate instead of after the last answer."""
        return self.rate_per_s is not None

    @property
    def held(self) -> str:
        """Number and kind of the connections beside the load: ``4 silent and 200 idle``; empty without any."""
        kinds = {"silent": self.silent, "idle": self.idle}
        return " and ".join(f"{count(number)} {kind}" for kind, number in kinds.items() if number)

    @property
    def label(self) -> str:
        """Name of the load level in reports: ``c=20``, ``200/s Poisson``, ``c=20 close beside 4 silent``."""
        return self.pace + (f" beside {self.held}" if self.held else "")

    @property
    def pace(self) -> str:
        """The label without the connections beside the load: ``c=20``, ``c=20 close``, ``200/s``."""
        if self.rate_per_s is None:
            level = f"c={self.concurrency}"
        else:
            level = f"{setting(self.rate_per_s)}/s" + (" Poisson" if self.poisson else "")
        return level + ("" if self.keep_alive else " close")

    def named(self, workload: str) -> str:
        """Return the label after the workload's name, ``static, c=20``; the label alone if the name is empty."""
        return f"{workload}, {self.label}" if workload else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """TLS settings of the connections to the server."""

    name: str
    """Server name to ask for (SNI), which the certificate must contain."""
    authorities: bytes | None
    """Trusted certificates (PEM); None accepts any certificate."""
    versions: tuple[str, ...] = ("1.2", "1.3")
    """Allowed versions: "1.2", "1.3" or both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Requests by outcome: scheduled = ok + non2xx + sum(failed) + timed_out + in_flight + unsent."""

    scheduled: int
    """Requests due."""
    ok: int
    """Right answers."""
    non2xx: int
    """Answers with a status other than the expected one."""
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
        """Requests answered wrongly or not at all."""
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
    """Fields that are only lower bounds ("≥"): some requests were unfinished at the end, or given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesBin:
    """One 100 ms bin of the run; latencies are those of the requests finished in it."""

    start_s: float
    """Seconds from the start of the recorded window."""
    ok: int
    """Right answers finished in the bin."""
    errors: int
    """Errors in the bin."""
    in_flight: int
    """Requests under way at the bin's end."""
    p50_s: float
    """The median latency, in seconds."""
    p99_s: float
    """The 99th percentile of latency, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetResult:
    """Result of the requests to one URL."""

    name: str
    """Method and path."""
    counts: Counts
    """Requests by outcome."""
    latency: Quantiles
    """Latencies, accurate to 0.8 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineShare:
    """Part of a load that one of several engines sent, from a machine of its own."""

    name: str
    """Name of the engine's machine in the cluster."""
    connections: int
    """Connections of this engine."""
    answered: int = 0
    """Right answers that the engine received."""
    bytes_read: int = 0
    """Bytes received."""
    bytes_written: int = 0
    """Bytes sent."""
    late_s: float = field(default=0.0, metadata=SIGNED)
    """Seconds by which the engine's window opened after the agreed moment; below 0 if the clocks' offset is off."""
    clock_error_s: float = 0.0
    """Largest error of the clock's offset, in seconds."""
    round_trip_s: float = 0.0
    """Median round trip between the engine's machine and the stack's before the race, in seconds."""
    lag_p99_s: float = 0.0
    """The 99th percentile of the time from when a request was due until the engine turned to it, in seconds."""
    busy: float = 0.0
    """Share of a core that the engine's busiest thread used, 0 to 1."""
    stalled_s: float = 0.0
    """Longest time for which the engine did not run, in seconds."""
    retransmits: int = 0
    """TCP segments that the engine's machine sent again."""
    segments_sent: int = 0
    """TCP segments that the engine's machine sent."""
    timeouts: int = 0
    """TCP retransmission timeouts of the engine's machine."""
    lost: bool = False
    """True if the engine was lost, with all that it had recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldConnections:
    """Connections beside a load at its end."""

    silent: int
    """Silent connections that are open."""
    idle: int
    """Idle connections that are open, each after an answer."""
    closed: int
    """Times that the server closed a connection; each is opened again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Counts of the engine other than the requests' outcomes; all are sums over the recorded window.

    The engine gives them as one value, by name. A counter that a later version adds needs a default of 0.
    """

    bytes_read: int
    """Bytes received."""
    connections_opened: int
    """Connections that were open at the beginning, and those opened since."""
    reconnects: int
    """Connections that the server closed although they should stay open, and that were opened again."""
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
    """Answers whose headers say that they come from a cache (Age, X-Cache)."""
    surplus_bytes: int = 0
    """Bytes received that belong to no answer."""
    ports_exhausted: int = 0
    """Connections that could not be opened because no local port was free (EADDRNOTAVAIL)."""
    files_exhausted: int = 0
    """Connections that could not be opened because no file descriptor was free (EMFILE, ENFILE)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult(Counters):
    """Result of one run of the engine.

    ``latency`` splits into ``lag``, opening a connection where one was needed (``connect``, and ``tls`` for its
    handshake), and ``service``.
    """

    started_at: float
    """Start of the recorded window, in seconds of this machine's own clock."""
    duration_s: float
    """Length of the recorded window, in seconds."""
    counts: Counts
    """Requests by outcome."""
    latency: Quantiles
    """Time from the moment a request was due until the end of its answer, in seconds."""
    connect: Quantiles
    """Time to open a connection, in seconds."""
    histogram: bytes
    """Latency distribution in nanoseconds, in HdrHistogram V2 encoding, which can be merged. If some latencies are
    lower bounds, they follow as a second histogram."""
    series: tuple[SeriesBin, ...]
    """Time series in bins of 100 ms."""
    status_classes: Mapping[str, int]
    """Answers by status class (2xx, 5xx)."""
    established_peak: int
    """Most connections established at once."""
    generator_cpu_s: float
    """CPU seconds of the engine's threads, user and system."""
    generator_wait_s: float
    """Seconds for which the engine's threads were ready to run but had no core."""
    generator_busy: float
    """Share of its core that the busiest engine thread used without spinning, 0 to 1."""
    fairness: float = field(metadata=_UNDEFINED)
    """Jain's index over the connections' request counts; 1 if all sent the same number."""
    dead_time: float = field(metadata=_UNDEFINED | SIGNED)
    """Share of the connections' time with no request under way: 1 - X R/C (Little's law).

    A request is under way from when its connection turns to it, connecting included, until its fate is known or the
    run ends.
    """
    service: Quantiles | None = None
    """Time from sending a request to the end of its answer, in seconds."""
    lag: Quantiles | None = None
    """Time from the moment a request was due until the engine turned to it, in seconds."""
    tls: Quantiles | None = None
    """Time of the TLS handshake, in seconds; null without any."""
    pages: Quantiles | None = None
    """Time of a page until the last request embedded in it is answered, in seconds; null without any."""
    targets: tuple[TargetResult, ...] = ()
    """Results by URL, in the order of their first request; empty if there is one URL."""
    ceiling_per_s: float | None = None
    """Requests per second that the engine reaches here against a server that does nothing; null if not measured."""
    generator_spin_s: float = 0.0
    """Part of the engine's CPU time in which it had nothing to do and only spun, in seconds."""
    engines: tuple[EngineShare, ...] = ()
    """Engines on other machines that sent the load together; empty if this machine's engine sent it."""
    arrivals_distance: float | None = None
    """Distance of the moments at which an open loop sent its requests from uniform ones (Kolmogorov and Smirnov),
    0 to 1; null for a closed loop and for sessions."""
    held: HeldConnections | None = None
    """Connections beside the load; null without any."""

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return self.counts.ok / self.duration_s if self.duration_s > 0 else 0.0


def answered_per_s(load: Load, result: LoadResult) -> float:
    """Return the right answers per second of a recorded window.

    Usually that is their number divided by the window's length. But requests that begin together and wait side
    by side are answered together: with 100 connections whose requests take half a second, 0.7 s hold one round of
    answers or two. If answers come in few rounds and all take about as long, Little's law gives the rate:
    X = C·(1 − idle)/R̄. A loop whose queue still fills has other latencies at its beginning, so its answers are
    counted.

    Source: J. D. C. Little, Operations Research 9 (1961).
    """
    counted, latency = result.throughput_per_s, result.latency
    in_turn = load.is_open or load.requests is not None or load.concurrency > result.counts.ok
    if in_turn or result.counts.errors or latency.mean <= 0 or not _in_rounds(load, result):
        return counted
    if max(latency.p50, latency.p90) > _ALIKE * latency.mean or latency.p50 * _ALIKE < latency.mean:
        return counted
    by_latency = load.concurrency * (1 - result.dead_time) / latency.mean
    # counting whole rounds is off by at most one answer of each connection
    is_off = not abs(by_latency - counted) * result.duration_s <= load.concurrency
    return counted if is_off else by_latency


def _in_rounds(load: Load, result: LoadResult) -> bool:
    """Return True if answers come in few rounds, many at once; a single connection's answers are such rounds."""
    if result.duration_s >= _FEW_ROUNDS * result.latency.mean:
        return False
    counts = [span.ok for span in result.series]
    return load.concurrency == 1 or (any(counts) and pvariance(counts) >= _ROUND * fmean(counts))
