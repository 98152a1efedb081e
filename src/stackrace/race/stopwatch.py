"""Where a race's time goes: the phases, and what takes the time of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """Seconds of a race by what they were spent on; ``total_s`` is their sum, the whole of its time.

    A race that went on after an interruption tells of the time since it last did.
    """

    slices_s: float = 0.0
    """Recorded load at the level that the answer speaks of; at all levels where none comes first."""
    sides_s: float = 0.0
    """Recorded load at other levels."""
    rewarming_s: float = 0.0
    """Load before a slice that is not recorded."""
    resting_s: float = 0.0
    """Waiting until no stack works any more, beside what the probe waits for after a slice."""
    waiting_s: float = 0.0
    """Waiting until other programs leave the race's cores."""
    probing_s: float = 0.0
    """Around slices: the canary with its wait for rest, counters of the machine, the engine's start and end."""
    starting_s: float = 0.0
    """From a stack's configuration to its right answers."""
    warming_s: float = 0.0
    """Load on fresh stacks until they are steady."""
    stopping_s: float = 0.0
    """Inspecting and stopping stacks."""
    calibrating_s: float = 0.0
    """Measuring what the load engine itself reaches."""
    other_s: float = 0.0
    """All else: getting ready for the race, checks, statistics, keeping the results, showing progress."""

    @property
    def total_s(self) -> float:
        """All of it."""
        return sum(float(getattr(self, each.name)) for each in fields(self))


class Phase(StrEnum):
    """What time is spent on; each is a field of ``Duty``."""

    SLICES = "slices_s"
    SIDES = "sides_s"
    REWARMING = "rewarming_s"
    RESTING = "resting_s"
    WAITING = "waiting_s"
    PROBING = "probing_s"
    STARTING = "starting_s"
    WARMING = "warming_s"
    STOPPING = "stopping_s"
    CALIBRATING = "calibrating_s"


class Stopwatch:
    """Books every moment to the innermost phase that is under way, so that none is counted twice."""

    def __init__(self) -> None:
        self._spent = dict.fromkeys(Phase, 0.0)
        self._under_way: list[Phase] = []
        self._since_s = 0.0

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Book what happens inside to ``phase``, but for phases within."""
        self._book()
        self._under_way.append(phase)
        try:
            yield
        finally:
            self._book()
            self._under_way.pop()

    def rebook(self, seconds: float, source: Phase, target: Phase) -> None:
        """Book up to ``seconds`` of what ``source`` has to ``target`` instead."""
        self._book()
        moved = min(seconds, self._spent[source])
        self._spent[source] -= moved
        self._spent[target] += moved

    def spent(self) -> dict[str, float]:
        """Return the seconds so far, by phase."""
        self._book()
        return {phase.value: spent_s for phase, spent_s in self._spent.items()}

    def duty(self, elapsed_s: float) -> Duty:
        """Return where ``elapsed_s`` went; what no phase had is other."""
        spent = self.spent()
        return Duty(other_s=max(elapsed_s - sum(spent.values()), 0.0), **spent)

    def _book(self) -> None:
        now_s = time.monotonic()
        if self._under_way:
            self._spent[self._under_way[-1]] += now_s - self._since_s
        self._since_s = now_s
