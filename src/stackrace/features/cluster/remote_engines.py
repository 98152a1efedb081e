"""Engines on other machines, which send one load together from one agreed moment."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from ...base.errors import BreakdownError, StackraceError
from ...base.process import Pending
from ...deploy.machine import WARM_BIN_S, Enough
from ...measure.engine.engine import FOLLOW_S, threads_of
from ...measure.engine.outcome import merged
from ...measure.host import NetworkPath
from ...measure.load import EngineShare, Load, LoadResult
from . import player
from .connection import Connection, MemberLost, pickled
from .hosting import Target
from .members import ClockOffset, Member
from .network import paths
from .player import Job, Played

_LEAD_S = 0.15
"""Seconds between the announcement of the agreed moment and the moment; more if round trips are long."""
_TRIPS = 3
_SPARE_S = 10.0
"""Seconds after the end of its load when an engine ends itself."""


def shares(load: Load, engines: int) -> tuple[Load, ...]:
    """Divide ``load`` among engines, as an engine does among its threads: connections differ by one at most.

    Engines without a connection get none, so fewer may be returned. The rate of an open loop stays whole: its
    arrivals are dealt out in turn, or a Poisson process is split.
    """
    engines = min(engines, load.concurrency)
    connections = _dealt(load.concurrency, engines)
    requests = [None] * engines if load.requests is None else _dealt(load.requests, engines)
    return tuple(
        replace(load, concurrency=count, requests=number)
        for count, number in zip(connections, requests, strict=True)
        if number != 0
    )


def _dealt(many: int, engines: int) -> list[int]:
    return [many // engines + (index < many % engines) for index in range(engines)]


@dataclass(frozen=True, slots=True)
class _Part:
    member: Member
    clock: ClockOffset
    round_trip_s: float
    job: Job
    playing: Pending[Played]


class _JointRun:
    """One load that several engines send together; ``begun_s`` is the agreed moment, on our own clock."""

    def __init__(
        self, connection: Connection, parts: Sequence[_Part], begun_s: float, ceiling_per_s: float | None
    ) -> None:
        self._connection = connection
        self._parts = parts
        self._ceiling_per_s = ceiling_per_s
        self.begun_s = begun_s
        self.threads = sum(threads_of(part.job.load, part.job.cores) for part in parts)

    def finish(self, until_s: float = math.inf) -> LoadResult:
        """Wait for the end, forced at ``until_s``; return the merged results, in times of our own clock.

        Engines that were lost meanwhile are marked as lost. Raises BreakdownError if all were.
        """
        for part in self._parts:
            left_s = None if until_s == math.inf else max(until_s - time.monotonic(), 0.0)
            if not part.playing.wait(left_s):
                self.cancel()
                until_s = math.inf
        played = [(part, _played(part)) for part in self._parts]
        recordings = [(got.recording, -part.clock.offset_s) for part, got in played if got is not None]
        if not recordings:
            raise BreakdownError("all load engines of the cluster were lost")
        result = merged(recordings, self._ceiling_per_s)
        opens_s = self.begun_s + self._parts[0].job.warmup_s
        return replace(result, engines=tuple(_share(part, got, opens_s) for part, got in played))

    def bins(self) -> Sequence[int]:
        """Return the right answers of all engines so far, in bins of ``WARM_BIN_S`` that all have counted."""
        asked = [self._connection.begin(part.member, player.counts, part.job.key) for part in self._parts]
        return [sum(each) for each in zip(*(counts.finish() for counts in asked), strict=False)]

    def cancel(self) -> None:
        """Cancel the load on all engines."""
        under_way = [part for part in self._parts if not part.playing.wait(0)]
        asked = [self._connection.begin(part.member, player.cancel, part.job.key) for part in under_way]
        for each in asked:
            with suppress(StackraceError):
                each.finish()

    @property
    def is_over(self) -> bool:
        """True if all engines have ended."""
        return all(part.playing.wait(0) for part in self._parts)


def _played(part: _Part) -> Played | None:
    try:
        return part.playing.finish()
    except MemberLost:
        return None


def _share(part: _Part, played: Played | None, opens_s: float) -> EngineShare:
    name = part.member.name
    if played is None:
        return EngineShare(name=name, connections=part.job.load.concurrency, lost=True)
    return replace(
        played.share,
        name=name,
        late_s=played.opened_s - part.clock.offset_s - opens_s,
        clock_error_s=part.clock.error_s,
        round_trip_s=part.round_trip_s,
    )


class BinByBin:
    """Callable that asks ``enough`` once about each bin of a warm-up whose counts come from another machine."""

    def __init__(self, enough: Enough) -> None:
        self._enough = enough
        self._seen = 0

    def __call__(self, counts: Sequence[int]) -> bool:
        """Return True if it was enough at the end of any new bin."""
        before, self._seen = self._seen, max(self._seen, len(counts))
        return any(self._enough(counts[: bin_ + 1]) for bin_ in range(before, len(counts)))


class Engines:
    """Members that send load: each load is divided among all of them."""

    def __init__(self, connection: Connection, members: Sequence[Member]) -> None:
        self.members = tuple(members)
        self._connection = connection
        self._ceilings: dict[tuple[int, bool], float] = {}
        self.paths: tuple[NetworkPath, ...] = ()
        """Network paths to their host, once measured."""

    def look_at_network(self, host: Member) -> None:
        """Measure the network path of each engine to ``host``. Raises InputError if one cannot reach it."""
        self.paths = paths(self._connection, self.members, host)

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure the rate of all engines together at each of ``loads``; unknown if one cannot measure it."""
        for load in loads:
            dealt = list(zip(self.members, shares(load, len(self.members)), strict=False))
            measuring = [
                self._connection.begin(
                    member, player.ceiling_of, part, member.cores[-threads_of(part, member.cores) :]
                )
                for member, part in dealt
            ]
            found = [ceiling for each in measuring if (ceiling := each.finish()) is not None]
            if len(found) == len(dealt):
                self._ceilings[load.concurrency, load.keep_alive] = sum(found)

    @contextmanager
    def playing(
        self, target: Target, load: Load, *, rewarm_s: float, follow_s: float = FOLLOW_S
    ) -> Iterator[_JointRun]:
        """Make all engines send ``load`` to ``target`` from one moment on; cancel it when the context is left."""
        clocks = [self._connection.clock(member) for member in self.members]
        dealt = list(zip(self.members, clocks, shares(load, len(self.members)), strict=False))
        begun_s = time.monotonic() + _LEAD_S + _TRIPS * max(clock.round_trip_s for clock in clocks)
        threads = [threads_of(part, member.cores) for member, _, part in dealt]
        length_s = load.duration_s if load.duration_s is not None else math.inf
        parts = []
        workload = pickled(target.workload)
        ways_s = {path.engine: path.round_trip_s for path in self.paths}
        for index, (member, clock, part) in enumerate(dealt):
            job = Job(
                key=secrets.token_hex(8),
                address=target.address,
                workload=workload,
                load=part,
                warmup_s=rewarm_s,
                starts_s=clock.to_remote(begun_s),
                other_threads=(sum(threads[:index]), sum(threads[index + 1 :])),
                cores=member.cores[-threads[index] :],
                most_s=rewarm_s + length_s + load.timeout_s + _SPARE_S,
                follow_s=follow_s,
            )
            playing = self._connection.begin(member, player.play, job)
            parts.append(_Part(member, clock, ways_s[member.name], job, playing))
        run = _JointRun(self._connection, parts, begun_s, self._ceilings.get((load.concurrency, load.keep_alive)))
        try:
            yield run
        finally:
            run.cancel()

    def warm_up(self, target: Target, load: Load, enough: Enough) -> float:
        """Send ``load``, unrecorded, until it is ``enough``; return the seconds spent."""
        with self.playing(target, load, rewarm_s=0.0, follow_s=0.0) as run:
            warm = BinByBin(enough)
            while not run.is_over:
                time.sleep(WARM_BIN_S)
                if warm(run.bins()):
                    break
        return time.monotonic() - run.begun_s
