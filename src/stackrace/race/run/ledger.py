"""The record of a running race: every launch and slice so far, as an immutable Race after each entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from threading import RLock

from ...base.errors import InputError
from ...measure.launch import FailureKind, Launch, Shortfall, Slice, StackFacts
from ...measure.load import Load
from ...stacks.stack import original_path
from ..results.race import Ending, Race
from .resume import changed, cut_short
from .stopwatch import Duty

_FAILED_LAUNCHES = 2
"""Failures in a row, before any slice, after which a stack is not launched again."""

_FEW_CONNECTIONS = 10
"""Connections up to which a response time is mostly the app's own, not waiting in the server's queue."""

_IsGivenUp = Callable[[Sequence[FailureKind]], bool]
"""Function that returns True if a stack with these failures in a row is not launched again."""


def keeps_failing(failures: Sequence[FailureKind]) -> bool:
    """Return True after two failures, or after one launch that never became ready, which costs its whole
    timeout."""
    return len(failures) >= _FAILED_LAUNCHES or FailureKind.NOT_READY in failures


class Ledger:
    """Collector of a race's launches and slices, in order of time; a resumed race starts with its earlier
    launches."""

    def __init__(self, race: Race, is_given_up: _IsGivenUp = keeps_failing) -> None:
        self._race = race
        self._is_given_up = is_given_up
        # several machines may record at once
        self.lock = RLock()
        self._launches: dict[str, Launch] = {launch.id: launch for launch in race.launches}
        self._open: set[str] = set()
        self._facts: dict[str, StackFacts] = {facts.stack: facts for facts in race.facts}
        self._slices = 1 + max((slice_.index for launch in race.launches for slice_ in launch.slices), default=-1)
        self._sizes: dict[str, int] = {}
        self._answers_s: dict[tuple[str, str], float] = {}
        for launch in race.launches:
            self.weigh(launch.stack, launch.peak_bytes)
            for slice_ in launch.slices:
                self._time(launch.stack, slice_)

    @property
    def race(self) -> Race:
        """The race with everything recorded so far."""
        with self.lock:
            return replace(self._race, facts=tuple(self._facts.values()), launches=tuple(self._launches.values()))

    def name_twin(self, path: str) -> None:
        """Record the stack that also runs as its own twin from now on."""
        self._race = replace(self._race, twin=path)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The largest memory seen of each stack, in bytes by path; a twin counts as its original."""
        return self._sizes

    def weigh(self, stack: str, memory_bytes: int) -> None:
        """Record the memory that a stack holds."""
        path = original_path(stack)
        if memory_bytes > self._sizes.get(path, 0):
            self._sizes[path] = memory_bytes

    def enter(self, launch: Launch, *, ended: bool = False) -> None:
        """Record a launch, or its newer state; ``ended`` launches are no longer open."""
        with self.lock:
            self._launches[launch.id] = launch
            (self._open.discard if ended else self._open.add)(launch.id)

    def cut(self, block: int, why: Shortfall) -> tuple[Launch, ...]:
        """Mark the launches of a block as cut short, and return them; the block counts nowhere, as its machine was
        lost."""
        with self.lock:
            launches = tuple(cut_short(each, why) for each in self._launches.values() if each.block == block)
            for launch in launches:
                self.enter(launch, ended=True)
        return launches

    def end_open(self, why: Shortfall) -> tuple[Launch, ...]:
        """End all open launches with the reason ``why``, and return them."""
        with self.lock:
            launches = tuple(
                replace(each, shortfall=each.shortfall or why) for each in map(self.launch, self._open)
            )
            for launch in launches:
                self.enter(launch, ended=True)
        return launches

    def describe(self, facts: StackFacts) -> bool:
        """Record the facts of a stack from its first launch; return True if they are new."""
        news = facts.stack not in self._facts
        self._facts.setdefault(facts.stack, facts)
        return news

    def hold_to(self, facts: StackFacts) -> None:
        """Raise InputError if a stack of a resumed race has changed since the interruption."""
        was = changed(self._facts[facts.stack], facts) if self._race.resumed else ""
        if was:
            raise InputError(
                f"stack {facts.stack!r} has changed since race {self._race.id} began: {was}; restore it (the "
                "results so far are kept), or start a new race"
            )

    def add(self, launch_id: str, measured: Slice) -> Slice:
        """Record a slice as the next one, and return it as recorded."""
        with self.lock:
            measured, launch = replace(measured, index=self._slices), self._launches[launch_id]
            self._launches[launch_id] = replace(launch, slices=(*launch.slices, measured))
            self._slices += 1
            self._time(launch.stack, measured)
        return measured

    def launch(self, launch_id: str) -> Launch:
        """Return the latest record of a launch."""
        return self._launches[launch_id]

    def throughput_below(self, launch_id: str, workload: str, load: Load) -> float | None:
        """Return the stack's right answers per second at the next lower concurrency than ``load``, None if unknown.

        Slices of this launch count first, else the stack's other launches.
        """
        own = self._launches[launch_id]
        others = [launch for launch in self.race.launches if launch.stack == own.stack]
        for launches in ([own], others):
            lower: dict[int, list[float]] = {}
            for slice_ in (slice_ for launch in launches for slice_ in launch.slices if slice_.verdict.valid):
                same = slice_.workload == workload and slice_.load.keep_alive == load.keep_alive
                if same and slice_.load.concurrency < load.concurrency:
                    lower.setdefault(slice_.load.concurrency, []).append(slice_.throughput_per_s)
            if lower:
                return fmean(lower[max(lower)])
        return None

    def answer_s(self, stack: str, workload: str) -> float | None:
        """Return the median response time of the stack's last slice with few connections, None if there is none."""
        return self._answers_s.get((original_path(stack), workload))

    def _time(self, stack: str, measured: Slice) -> None:
        if measured.load.concurrency <= _FEW_CONNECTIONS and measured.result.counts.ok:
            self._answers_s[original_path(stack), measured.workload] = measured.result.latency.p50

    def longest_start_s(self, stack: str) -> float:
        """Return the longest start of the stack so far; 0 if unknown."""
        launches = (launch for launch in self.race.launches if launch.stack == stack)
        return max((launch.ready_s or 0.0 for launch in launches), default=0.0)

    def failures_of(self, stack: str) -> list[FailureKind]:
        """Return the failures of the stack's last launches that failed in a row without a slice, newest first."""
        kinds: list[FailureKind] = []
        for launch in reversed(self.race.launches):
            if launch.stack == stack and not launch.cut_short:
                if launch.failure is None or launch.slices:
                    break
                kinds.append(launch.failure.kind)
        return kinds

    def given_up(self, stack: str) -> bool:
        """Return True if the stack's failures in a row are a reason not to launch it again."""
        return self._is_given_up(self.failures_of(stack))

    def end(self, ending: Ending, elapsed_s: float, duty: Duty) -> Race:
        """Record the end of the race, and return it."""
        self._race = replace(self._race, ending=ending, elapsed_s=elapsed_s, duty=duty)
        return self.race
