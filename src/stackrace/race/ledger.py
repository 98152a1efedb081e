"""The race's books: every launch and slice so far, as one immutable Race after each entry."""

from __future__ import annotations

from dataclasses import replace

from ..model.errors import InputError
from ..model.launch import FailureKind, Launch, Slice
from ..model.race import Ending, Race, StackFacts
from .unchanged import changed

__all__ = ["FAILED_LAUNCHES", "Ledger"]

FAILED_LAUNCHES = 2
"""A stack that fails so often in a row, before any slice, is not launched again."""


class Ledger:
    """Collects what a race yields, in order of time; a race that goes on brings what it has."""

    def __init__(self, race: Race) -> None:
        self._race = race
        self._launches: dict[str, Launch] = {launch.id: launch for launch in race.launches}
        self._facts: dict[str, StackFacts] = {facts.stack: facts for facts in race.facts}
        self._slices = 1 + max((one.index for launch in race.launches for one in launch.slices), default=-1)

    @property
    def race(self) -> Race:
        """The race with everything entered so far."""
        return replace(self._race, facts=tuple(self._facts.values()), launches=tuple(self._launches.values()))

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

    def hold_to(self, facts: StackFacts) -> None:
        """Raise InputError when a stack of a race that goes on is not what it was before the interruption."""
        was = changed(self._facts[facts.stack], facts) if self._race.resumed else ""
        if was:
            raise InputError(
                f"stack {facts.stack!r} is not what it was when race {self._race.id} began: {was}; "
                "make it as it was, or race anew: what was measured is kept"
            )

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
            if launch.stack == stack and not launch.cut_short:
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
