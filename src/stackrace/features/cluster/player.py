"""An engine on this member: sends its share of a load from the agreed moment on, watched for stalls."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...base.errors import RefusedError
from ...deploy.machine import WARM_BIN_S
from ...measure.engine.engine import FOLLOW_S, Monitor, ceiling, record
from ...measure.engine.outcome import merged
from ...measure.load import EngineShare, Load
from ...measure.probe import difference, read_machine
from ...measure.workload import Workload

_LOOK_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Share of a load for one engine."""

    key: str
    """Key for reading its counts and for cancelling it."""
    address: tuple[str, int]
    workload: Workload
    load: Load
    """Share of the load; the rate of an open loop is that of all engines together."""
    warmup_s: float
    starts_s: float
    """Start time, on this machine's CLOCK_MONOTONIC."""
    other_threads: tuple[int, int]
    """Event loops of other engines before and after this one's; see the engine's ``other_threads``."""
    cores: Sequence[int]
    most_s: float
    """Seconds after its start when it ends itself, even if nobody cancels it."""
    follow_s: float = FOLLOW_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Result of a job."""

    recording: bytes
    """Recording to merge with the others'; figures of this engine alone are already read from it here."""
    opened_s: float
    """Time when its window opened, on this machine's CLOCK_MONOTONIC."""
    share: EngineShare
    """Facts known here: neither its name, nor how late it was."""


@dataclass(slots=True)
class _Playing:
    monitor: Monitor = field(default_factory=Monitor)
    counts: list[int] = field(default_factory=list)


_playing: dict[str, _Playing] = {}


def play(job: Job) -> Played:
    """Send ``job`` from its start time on, until its end or until it is cancelled; return the recording.

    Raises InputError and RefusedError like ``measure.engine.engine.run``.
    """
    playing = _playing[job.key] = _Playing()
    before = read_machine()
    try:
        with _watched(playing, job) as watch:
            recording = record(
                address=job.address,
                workload=job.workload,
                load=job.load,
                monitor=playing.monitor,
                warmup_s=job.warmup_s,
                cores=job.cores,
                follow_s=job.follow_s,
                starts_s=job.starts_s,
                other_threads=job.other_threads,
            )
    finally:
        del _playing[job.key]
    machine = difference(before, read_machine())
    seen = merged([(recording, 0.0)])
    return Played(
        recording=recording,
        opened_s=seen.started_at,
        share=EngineShare(
            name="",
            connections=job.load.concurrency,
            answered=seen.counts.ok,
            bytes_read=seen.bytes_read,
            bytes_written=seen.bytes_written,
            lag_p99_s=seen.lag.p99 if seen.lag is not None and seen.lag.count else 0.0,
            busy=seen.generator_busy,
            stalled_s=watch.stalled_s,
            retransmits=machine.retransmits,
            segments_sent=machine.segments_sent,
            timeouts=machine.timeouts,
        ),
    )


def counts(key: str) -> Sequence[int]:
    """Return the right answers of the job ``key`` so far, in bins of ``WARM_BIN_S``; empty if it is over."""
    playing = _playing.get(key)
    return () if playing is None else tuple(playing.counts)


def cancel(key: str) -> None:
    """Cancel the job ``key``; its recording contains the measurements so far."""
    if key in _playing:
        _playing[key].monitor.cancel()


def ceiling_of(load: Load, cores: Sequence[int]) -> float | None:
    """Return the requests per second that the engine reaches on ``cores``; None if that cannot be measured."""
    try:
        return ceiling(load, cores=cores, server_cores=cores)
    except RefusedError:
        return None


@dataclass(slots=True)
class _Watch:
    stalled_s: float = 0.0


@contextmanager
def _watched(playing: _Playing, job: Job) -> Iterator[_Watch]:
    """Measure how long this process stalled, count answers in bins, and cancel a job that exceeds its time."""
    watch, over = _Watch(), threading.Event()

    def look() -> None:
        last_s = time.monotonic()
        while not over.wait(_LOOK_S):
            now_s = time.monotonic()
            if last_s > job.starts_s:
                watch.stalled_s = max(watch.stalled_s, now_s - last_s - _LOOK_S)
            last_s = now_s
            # in the middle of the engine's next bin, which by then has surely counted the one before
            if now_s >= job.starts_s + (len(playing.counts) + 1.5) * WARM_BIN_S:
                playing.counts.append(playing.monitor.snapshot()[0] - sum(playing.counts))
            if now_s > job.starts_s + job.most_s:
                playing.monitor.cancel()

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()
