"""Runs of the engine: play a workload at a load level, return a LoadResult, and measure the engine's own limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Protocol, Self, TypedDict, Unpack

from stackrace.base.errors import InputError, RefusedError, said_by
from stackrace.base.process import Background, HeldSignals
from stackrace.base.unix import resource
from stackrace.measure.load import Load, LoadResult, Tls
from stackrace.measure.workload import MOST_BODY_BYTES, Answer, Fill, FillPart, Order, Request, Sameness, Workload

from . import _engine
from ._engine import Monitor
from .outcome import outcome

__all__ = [
    "FOLLOW_S",
    "EngineRun",
    "Monitor",
    "Play",
    "RunningEngine",
    "arrivals",
    "ceiling",
    "record",
    "run",
    "threads_of",
]

FOLLOW_S = 0.2
"""Most seconds of unrecorded load after a window limited by time, until its oldest requests are answered."""


class _How(TypedDict, total=False):
    """Options of a run; each has a default."""

    tls: Tls | None
    """TLS settings; no encryption by default."""
    body_max_bytes: int | None
    """Longest body accepted; a longer answer is a failure. By default ``MOST_BODY_BYTES``, as in races; None leaves
    the limit to the engine, which keeps no answer."""
    open_first_s: float | None
    """Patience in seconds: a closed loop opens all its connections before its clock starts, but stops waiting when
    none was opened for that long."""
    warmup_s: float
    """Seconds of load that are not recorded; requests under way when the window opens belong to the window."""
    cores: Sequence[int]
    """Cores of the event loops; any by default."""
    threads: int | None
    """Number of event loops; by default one per core, or one if no cores are named."""
    spin: bool
    """True if the event loops never sleep: an answer is seen when it comes, not only when a core has woken. For
    cores that no other program needs."""
    follow_s: float
    """Most seconds of load after a window limited by time, by default ``FOLLOW_S``, until its slowest requests are
    answered. Otherwise they would leave lower bounds in the latencies."""
    starts_s: float | None
    """Start on CLOCK_MONOTONIC; by default, and if that moment has passed, the run starts at once."""
    other_threads: tuple[int, int]
    """Numbers of event loops of other engines that send the same open loop: those before ours in turn, and those
    after. The load's rate is the rate of all engines together."""


def run(
    *,
    address: tuple[str, int] | str,
    workload: Workload,
    load: Load,
    monitor: Monitor | None = None,
    ceiling_per_s: float | None = None,
    **how: Unpack[_How],
) -> LoadResult:
    """Send ``workload`` to ``address`` at ``load`` and return the result.

    ``address`` is an IP address with a port, or the path of a Unix socket.

    Every answer is compared with the parts of its golden answer that must repeat; a workload without golden answers
    accepts any 2xx. ``ceiling_per_s`` (see ``ceiling``) is copied into the result.

    Blocks without holding the GIL, so run it in a thread while the main thread waits for Ctrl-C and calls
    ``monitor.cancel()``; the result then holds what was measured so far.

    InputError: the load or a request cannot be sent as it stands. RefusedError: this machine forbids it.
    """
    with _errors_translated():
        report = _engine.run(_plan(address, workload, load, how), monitor or Monitor())
    return outcome(report, ceiling_per_s)


def record(
    *,
    address: tuple[str, int] | str,
    workload: Workload,
    load: Load,
    monitor: Monitor | None = None,
    **how: Unpack[_How],
) -> bytes:
    """Send ``workload`` as ``run`` does and return a recording that can be merged: see ``outcome.merged``."""
    with _errors_translated():
        return _engine.record(_plan(address, workload, load, how), monitor or Monitor())


@contextmanager
def _errors_translated() -> Iterator[None]:
    """Raise the engine's errors as InputError or RefusedError."""
    try:
        yield
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(f"this load cannot be applied: {error}") from error
    except OSError as error:
        raise RefusedError(f"this machine does not allow the load: {said_by(error)}") from error


def _plan(address: tuple[str, int] | str, workload: Workload, load: Load, how: _How) -> _engine.Plan:
    if load.poisson and not load.is_open:
        raise InputError("poisson is for an open loop; give it a rate")
    tls, cores = how.get("tls"), list(how.get("cores", ()))
    return _engine.Plan(
        address=address,
        targets=_targets(workload),
        connections=load.concurrency,
        timeout_s=load.timeout_s,
        tls=(tls.name, tls.authorities, list(tls.versions)) if tls else None,
        session=workload.order is Order.SESSION,
        cookies=workload.cookies,
        nonce=(workload.nonce.place.value, workload.nonce.name) if workload.nonce else None,
        keep_alive=load.keep_alive,
        requests_per_connection=load.requests_per_connection,
        connect_timeout_s=load.connect_timeout_s,
        open_first_s=how.get("open_first_s"),
        body_max_bytes=how.get("body_max_bytes", MOST_BODY_BYTES),
        duration_s=load.duration_s,
        requests=load.requests,
        warmup_s=how.get("warmup_s", 0.0),
        follow_s=how.get("follow_s", FOLLOW_S) if load.requests is None else 0.0,
        rate_per_s=load.rate_per_s,
        poisson_seed=load.seed if load.poisson else None,
        spin=how.get("spin", False),
        threads=threads_of(load, cores, how.get("threads")),
        cores=cores,
        starts_s=how.get("starts_s"),
        other_threads=how.get("other_threads", (0, 0)),
    )


def threads_of(load: Load, cores: Sequence[int], threads: int | None = None) -> int:
    """Return the number of event loops for ``load``: ``threads``, else one per core; each has a connection."""
    return min(threads or len(cores) or 1, max(load.concurrency, 1))


def arrivals(load: Load, *, warmup_s: float, threads: int) -> list[float]:
    """Return the moments at which requests of an open loop with random arrivals fall due, the warm-up first.

    Moments are in seconds from the start. ``load`` must have a number of requests and a rate; ``threads`` is the
    number of event loops.
    """
    assert load.requests is not None and load.rate_per_s is not None
    span_s = warmup_s + load.requests / load.rate_per_s
    return _engine.arrivals(rate_per_s=load.rate_per_s, seed=load.seed, span_s=span_s, threads=threads)


def _targets(workload: Workload) -> list[_engine.Target]:
    answers: Sequence[Answer | None] = workload.answers or [None] * len(workload.requests)
    if len(answers) != len(workload.requests):
        raise InputError(f"{len(workload.requests)} requests have {len(answers)} golden answers; give one for each")
    return [
        _target(request, answer, workload.host) for request, answer in zip(workload.requests, answers, strict=True)
    ]


def _target(request: Request, answer: Answer | None, host: str) -> _engine.Target:
    """Return the engine's form of a request. An answer to HEAD never has a body, even if the golden one has."""
    body_counts = answer is not None and request.method != "HEAD"
    sameness = answer.sameness if answer is not None and body_counts else Sameness.STATUS
    return _engine.Target(
        request.method,
        request.path,
        host,
        list(request.headers),
        request.body,
        chunk_bytes=request.chunk_bytes,
        expects_continue=request.expects_continue,
        think_s=request.think_s,
        embedded=request.embedded,
        status=answer.status if answer is not None else None,
        length=len(answer.body) if answer is not None and sameness is Sameness.LENGTH else None,
        exact=answer.body if answer is not None and sameness is Sameness.BODY else None,
        handouts=[("field", item.name, item.nth, item.slot) for item in request.handouts],
        fills=[(_part_name(fill), fill.start, fill.end, fill.source, fill.form) for fill in request.fills],
        parts=list(answer.parts) if answer is not None and sameness is Sameness.PARTS else None,
    )


def _part_name(fill: Fill) -> str:
    return f"header:{fill.header}" if fill.part is FillPart.HEADER else fill.part.value


Play = Callable[[Monitor], LoadResult]
"""Function that sends a load until its end, or until the monitor is cancelled, and returns the result."""


class EngineRun(Protocol):
    """One run of an engine, here or on other machines. It ends when the context is left."""

    begun_s: float
    """Start on CLOCK_MONOTONIC."""

    @property
    def right(self) -> int:
        """Right answers in the recorded window so far, up to 0.1 s late."""

    def __enter__(self) -> Self:
        """Start the run."""

    def __exit__(self, *_: object) -> None:
        """End the run, if it has not ended by itself."""

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the end; return True if the run has ended."""

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield the right answers in each bin of ``bin_s`` so far, at the end of each bin, until the end."""

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Wait for the end, or end the run at ``until_s``; return the result."""


class RunningEngine:
    """An ``EngineRun`` on this machine. It ends when the context is left, however that happens.

    Signals that would end the process are held until a caller waits for the engine and can cancel it: the
    interpreter does not end before the engine's thread.
    """

    def __init__(self, play: Play) -> None:
        self._play = play
        self._monitor = Monitor()
        self._signals = HeldSignals()
        self.begun_s = 0.0

    def __enter__(self) -> Self:
        self._signals.hold()
        self.begun_s = time.monotonic()
        try:
            self._work = Background(lambda: self._play(self._monitor))
        except RuntimeError:
            # no thread could be started: __exit__ will not be called
            self._signals.restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._signals.release()
        finally:
            try:
                self._cancel()
            finally:
                self._signals.restore()

    @property
    def cancelled(self) -> bool:
        """True if the run was ended early."""
        return self._monitor.cancelled

    @property
    def right(self) -> int:
        return self._monitor.snapshot()[0]

    @property
    def opened(self) -> int:
        """Connections opened so far before the run starts; 0 if it opens none first."""
        return self._monitor.opened

    def wait(self, until_s: float) -> bool:
        self._signals.release()
        return self._work.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def follow(self, every_s: float, look: Callable[[int, int, float], None]) -> None:
        """Wait for the end; every ``every_s`` pass ``look`` the right answers, errors and seconds so far.

        Ctrl-C ends the run early; the result then holds what was measured so far.
        """
        while True:
            try:
                while not self.wait(time.monotonic() + every_s):
                    look(*self._monitor.snapshot())
                return
            except KeyboardInterrupt:
                self._monitor.cancel()

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        # look in the middle of the engine's next bin, when the bin before is surely complete
        counts: list[int] = []
        ended = False
        while not ended:
            _, _, elapsed_s = self._monitor.snapshot()
            ended = self.wait(time.monotonic() + (len(counts) + 1.5) * bin_s - elapsed_s)
            if not ended:
                counts.append(self.right - sum(counts))
                yield counts

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        if not self.wait(until_s):
            self._cancel()
        return self._work.finish()

    def _cancel(self) -> None:
        if not self._work.wait(0):
            self._monitor.cancel()
            self._work.wait()


_TIMES, _MEASURED_S = 3, 0.1
"""Number of measurements, and seconds of each. The best one counts: a disturbance can only lower the figure."""

_MOST_CONNECTIONS = 512
"""Most connections of the measurement; more change the figure little and the preparation much."""

_SPARE_FILES = 256


def ceiling(load: Load, *, cores: Sequence[int], server_cores: Sequence[int], threads: int | None = None) -> float:
    """Return the requests per second that the engine reaches at ``load`` with its ``threads`` on ``cores``.

    The server in this measurement answers a few bytes over plain TCP from threads on ``server_cores``, so the
    figure is a limit that no server can exceed here, not a goal. The measurement takes 0.3 s, more only if the
    machine is busy, and is made once per process for the same connections, kind of connection, threads and cores.
    For an open loop, the closed loop over as many connections is measured.

    RefusedError: this machine has no room for the measurement.
    """
    # both ends of every connection are ours
    room = (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES) // 2
    connections = max(min(load.concurrency, _MOST_CONNECTIONS, room), 1)
    return _measured_ceiling(
        connections,
        load.keep_alive,
        min(threads or len(cores) or 1, connections),
        tuple(cores),
        tuple(server_cores),
    )


@lru_cache(maxsize=64)
def _measured_ceiling(
    connections: int, keep_alive: bool, threads: int, cores: tuple[int, ...], server_cores: tuple[int, ...]
) -> float:
    try:
        return max(
            _engine.ceiling(
                connections=connections,
                keep_alive=keep_alive,
                threads=threads,
                cores=cores,
                server_cores=server_cores,
                duration_s=_MEASURED_S,
            )
            for _ in range(_TIMES)
        )
    except (OSError, ValueError) as error:
        raise RefusedError(f"the engine's own limit cannot be measured here: {said_by(error)}") from error
