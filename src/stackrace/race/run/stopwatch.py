"""Time accounting of a race: its phases, and the stopwatch that measures them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """Seconds of a race by activity; ``total_s`` is their sum, the whole time of the race.

    For a resumed race, the time since it was last resumed.
    """

    slices_s: float = 0.0
    """Recorded load at the headline level; at all levels if none comes first."""
    sides_s: float = 0.0
    """Recorded load at other levels."""
    rewarming_s: float = 0.0
    """Unrecorded load before slices."""
    resting_s: float = 0.0
    """Waiting until all stacks are idle, beyond the probe's own wait after a slice."""
    waiting_s: float = 0.0
    """Waiting until other programs leave the race's cores."""
    probing_s: float = 0.0
    """Around slices: the canary with its wait for rest, counters of the machine, the engine's start and end."""
    starting_s: float = 0.0
    """Starting stacks, from configuration to right answers."""
    warming_s: float = 0.0
    """Load on fresh stacks until they are steady."""
    stopping_s: float = 0.0
    """Inspecting and stopping stacks."""
    calibrating_s: float = 0.0
    """Measuring the load engine's own limit."""
    other_s: float = 0.0
    """Everything else: preparing the race, checks, statistics, storing results, showing progress."""

    @property
    def total_s(self) -> float:
        """The sum of all activities."""
        return sum(float(getattr(self, each.name)) for each in fields(self))


class Phase(StrEnum):
    """Activities of a race; each is a field of ``Duty``."""

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
    """Stopwatch that adds each moment to the innermost running phase, so that none is counted twice."""

    def __init__(self) -> None:
        self._spent = dict.fromkeys(Phase, 0.0)
        self._under_way: list[Phase] = []
        self._since_s = 0.0

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Add the time inside to ``phase``, except for nested phases."""
        self._charge()
        self._under_way.append(phase)
        try:
            yield
        finally:
            self._charge()
            self._under_way.pop()

    def rebook(self, seconds: float, source: Phase, target: Phase) -> None:
        """Move up to ``seconds`` from ``source`` to ``target``."""
        self._charge()
        moved = min(seconds, self._spent[source])
        self._spent[source] -= moved
        self._spent[target] += moved

    def spent(self) -> dict[str, float]:
        """Return the seconds so far, by phase."""
        self._charge()
        return {phase.value: spent_s for phase, spent_s in self._spent.items()}

    def duty(self, elapsed_s: float) -> Duty:
        """Return the activities of ``elapsed_s``; time outside all phases is other."""
        spent = self.spent()
        return Duty(other_s=max(elapsed_s - sum(spent.values()), 0.0), **spent)

    def _charge(self) -> None:
        now_s = time.monotonic()
        if self._under_way:
            self._spent[self._under_way[-1]] += now_s - self._since_s
        self._since_s = now_s
