"""An engine on this member: plays its share of a load from the agreed moment on, watched for stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...base.errors import RefusedError
from ...deploy.place import WARM_BIN_S
from ...measure.engine.engine import FOLLOW_S, Monitor, ceiling, record
from ...measure.engine.outcome import merged
from ...measure.load import EngineShare, Load
from ...measure.probe import difference, read_machine
from ...measure.workload import Workload

_LOOK_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one engine is to send."""

    key: str
    """Names the job to those who look at it or end it."""
    address: tuple[str, int]
    workload: Workload
    load: Load
    """Its share; the rate of an open loop is that of all engines together."""
    warmup_s: float
    starts_s: float
    """When it begins, on this machine's CLOCK_MONOTONIC."""
    company: tuple[int, int]
    """Event loops of other engines before and after this one's; see the engine's ``company``."""
    cores: Sequence[int]
    most_s: float
    """It is ended so long after its beginning, whoever is left to end it."""
    follow_s: float = FOLLOW_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of it."""

    recording: bytes
    """To be merged with the others'. What it says of this engine alone is read here, where it costs nobody."""
    opened_s: float
    """When its window opened, on this machine's CLOCK_MONOTONIC."""
    share: EngineShare
    """What is known of it here: neither its name, nor how late it was."""


@dataclass(slots=True)
class _Playing:
    monitor: Monitor = field(default_factory=Monitor)
    counts: list[int] = field(default_factory=list)


_playing: dict[str, _Playing] = {}


def play(job: Job) -> Played:
    """Send ``job`` from its moment on, until its end or until it is cancelled; return what was recorded.

    Raises InputError and RefusedError as ``load.engine.run`` does.
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
                company=job.company,
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
    """Return the right answers of that job so far, in bins of ``WARM_BIN_S``; none of one that is over."""
    playing = _playing.get(key)
    return () if playing is None else tuple(playing.counts)


def cancel(key: str) -> None:
    """End that job; its recording holds what was measured so far."""
    if key in _playing:
        _playing[key].monitor.cancel()


def ceiling_of(load: Load, cores: Sequence[int]) -> float | None:
    """Return the requests per second that the engine reaches on ``cores``; None where that cannot be measured."""
    try:
        return ceiling(load, cores=cores, server_cores=cores)
    except RefusedError:
        return None


@dataclass(slots=True)
class _Watch:
    stalled_s: float = 0.0


@contextmanager
def _watched(playing: _Playing, job: Job) -> Iterator[_Watch]:
    """Note how long this process stood still, count answers in bins, and end a job that outlives its time."""
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
