"""The race's books: every launch and slice so far, as one immutable Race after each entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from threading import RLock

from ..base.errors import InputError
from ..measure.launch import FailureKind, Launch, Shortfall, Slice, StackFacts
from ..measure.load import Load
from ..stacks.stack import original_path
from .results.race import Ending, Race
from .resume import changed, cut_short
from .stopwatch import Duty

_FAILED_LAUNCHES = 2
"""A stack that fails so often in a row, before any slice, is not launched again."""

FAILED_OF_A_SIDE = 4
"""The same of a side of a check, which has to show that its failures are no accident."""

_FEW_CONNECTIONS = 10
"""With no more, an answer's time is mostly the app's own; with more it is mostly waiting in the server's queue."""


class Ledger:
    """Collects what a race yields, in order of time; a race that goes on brings what it has."""

    def __init__(self, race: Race) -> None:
        self._race = race
        # several machines may enter at once
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
        """The race with everything entered so far."""
        with self.lock:
            return replace(self._race, facts=tuple(self._facts.values()), launches=tuple(self._launches.values()))

    def name_twin(self, path: str) -> None:
        """Enter which stack also runs as its own twin from now on."""
        self._race = replace(self._race, twin=path)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The most memory that each stack was seen with, in bytes by path; a twin's is its original's."""
        return self._sizes

    def weigh(self, stack: str, memory_bytes: int) -> None:
        """Enter how much memory a stack holds."""
        path = original_path(stack)
        if memory_bytes > self._sizes.get(path, 0):
            self._sizes[path] = memory_bytes

    def enter(self, launch: Launch, *, ended: bool = False) -> None:
        """Enter a launch, or its newer state."""
        with self.lock:
            self._launches[launch.id] = launch
            (self._open.discard if ended else self._open.add)(launch.id)

    def cut(self, block: int, why: Shortfall) -> tuple[Launch, ...]:
        """Mark a block's launches as cut short, and return them: its machine was lost, so it counts nowhere."""
        with self.lock:
            launches = tuple(cut_short(each, why) for each in self._launches.values() if each.block == block)
            for launch in launches:
                self.enter(launch, ended=True)
        return launches

    def end_open(self, why: Shortfall) -> tuple[Launch, ...]:
        """End the launches that nothing ended yet, with the reason for that, and return them."""
        with self.lock:
            launches = tuple(
                replace(each, shortfall=each.shortfall or why) for each in map(self.launch, self._open)
            )
            for launch in launches:
                self.enter(launch, ended=True)
        return launches

    def describe(self, facts: StackFacts) -> bool:
        """Enter what a stack is, as its first launch showed it; tells whether that is news."""
        news = facts.stack not in self._facts
        self._facts.setdefault(facts.stack, facts)
        return news

    def hold_to(self, facts: StackFacts) -> None:
        """Raise InputError when a stack of a race that goes on is not what it was before the interruption."""
        was = changed(self._facts[facts.stack], facts) if self._race.resumed else ""
        if was:
            raise InputError(
                f"stack {facts.stack!r} has changed since race {self._race.id} began: {was}; restore it, or "
                "start a new race: the results so far are kept"
            )

    def add(self, launch_id: str, measured: Slice) -> Slice:
        """Enter a slice as the next one, and return it as it was entered."""
        with self.lock:
            measured, launch = replace(measured, index=self._slices), self._launches[launch_id]
            self._launches[launch_id] = replace(launch, slices=(*launch.slices, measured))
            self._slices += 1
            self._time(launch.stack, measured)
        return measured

    def launch(self, launch_id: str) -> Launch:
        """Return a launch as entered last."""
        return self._launches[launch_id]

    def throughput_below(self, launch_id: str, workload: str, load: Load) -> float | None:
        """Return the stack's right answers per second at the next lower concurrency of ``load``, None when unknown.

        What this very launch did counts; failing that, the stack's other launches.
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
        """Return the median time of an answer when the stack was last asked by few, None when it never was."""
        return self._answers_s.get((original_path(stack), workload))

    def _time(self, stack: str, measured: Slice) -> None:
        if measured.load.concurrency <= _FEW_CONNECTIONS and measured.result.counts.ok:
            self._answers_s[original_path(stack), measured.workload] = measured.result.latency.p50

    def longest_start_s(self, stack: str) -> float:
        """Return the longest that a start of the stack took so far; 0 where none is known."""
        launches = (launch for launch in self.race.launches if launch.stack == stack)
        return max((launch.ready_s or 0.0 for launch in launches), default=0.0)

    def failures_of(self, stack: str) -> list[FailureKind]:
        """Return how the stack's launches failed before any slice: the last ones, in a row."""
        kinds: list[FailureKind] = []
        for launch in reversed(self.race.launches):
            if launch.stack == stack and not launch.cut_short:
                if launch.failure is None or launch.slices:
                    break
                kinds.append(launch.failure.kind)
        return kinds

    def given_up(self, stack: str) -> bool:
        """A stack that never became ready cost its whole timeout already; others get a second chance.

        The sides of a check get more, however they failed.
        """
        failures = self.failures_of(stack)
        if any(part.needs_every_stack for part in self._race.parts.known()):
            return len(failures) >= FAILED_OF_A_SIDE
        return len(failures) >= _FAILED_LAUNCHES or any(kind is FailureKind.NOT_READY for kind in failures)

    def end(self, ending: Ending, elapsed_s: float, duty: Duty) -> Race:
        """Close the books."""
        self._race = replace(self._race, ending=ending, elapsed_s=elapsed_s, duty=duty)
        return self.race
