"""The race's books: every launch and slice so far, as one immutable Race after each entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..model.launch import FailureKind, Launch, Slice
from ..model.race import Ending, Race, StackFacts
from ..model.stack import original_path

__all__ = ["FAILED_LAUNCHES", "Ledger"]

FAILED_LAUNCHES = 2
"""A stack that fails so often in a row, before any slice, is not launched again."""


class Ledger:
    """Collects what a race yields, in order of time."""

    def __init__(self, race: Race) -> None:
        self._race = race
        self._launches: dict[str, Launch] = {}
        self._facts: dict[str, StackFacts] = {}
        self._slices = 0
        self._sizes: dict[str, int] = {}

    @property
    def race(self) -> Race:
        """The race with everything entered so far."""
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

    @property
    def next_index(self) -> int:
        """The index of the next slice."""
        return self._slices

    def enter(self, launch: Launch) -> None:
        """Enter a launch, or its newer state."""
        self._launches[launch.id] = launch

    def describe(self, facts: StackFacts) -> bool:
        """Enter what a stack is, as its first launch showed it; tells whether that is news."""
        news = facts.stack not in self._facts
        self._facts.setdefault(facts.stack, facts)
        return news

    def add(self, launch_id: str, measured: Slice) -> Launch:
        """Enter a slice and return its launch as it now is."""
        launch = self._launches[launch_id]
        launch = replace(launch, slices=(*launch.slices, measured))
        self._launches[launch_id] = launch
        self._slices += 1
        return launch

    def launch(self, launch_id: str) -> Launch:
        """Return a launch as entered last."""
        return self._launches[launch_id]

    def failures_of(self, stack: str) -> list[FailureKind]:
        """Return how the stack's launches failed before any slice: the last ones, in a row."""
        kinds: list[FailureKind] = []
        for launch in reversed(self._launches.values()):
            if launch.stack == stack:
                if launch.failure is None or launch.slices:
                    break
                kinds.append(launch.failure.kind)
        return kinds

    def given_up(self, stack: str) -> bool:
        """A stack that never became ready cost its whole timeout already; others get a second chance."""
        failures = self.failures_of(stack)
        return len(failures) >= FAILED_LAUNCHES or any(kind is FailureKind.NOT_READY for kind in failures)

    def end(self, ending: Ending, elapsed_s: float) -> Race:
        """Close the books."""
        self._race = replace(self._race, ending=ending, elapsed_s=elapsed_s)
        return self.race
