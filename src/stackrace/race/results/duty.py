"""Where a race's time went."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Duty"]


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
