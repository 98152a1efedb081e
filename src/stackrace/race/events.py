"""What a race tells the world while it runs: typed events, sent to a sink; the race itself prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..measure.host import Disturbance
from ..measure.launch import Launch, Slice, StackFacts
from .plan import Cell
from .results.race import Ending, Race
from .stopwatch import Duty


class Activity(StrEnum):
    """What a race is doing, for whoever shows its progress."""

    STARTING = "starting"
    CALIBRATING = "calibrating"
    """The load engine measures what it can reach by itself."""
    LAUNCHING = "launching"
    WARMING_UP = "warming up"
    MEASURING = "measuring"
    STOPPING = "stopping"
    WAITING = "waiting for quiet"
    """Other programs have the cores."""

    @property
    def must_not_be_disturbed(self) -> bool:
        """Whether drawing on a terminal would compete with what is measured."""
        return self is Activity.MEASURING


@dataclass(frozen=True, slots=True)
class RaceStarted:
    """The race begins; ``race`` has no launches yet."""

    race: Race


@dataclass(frozen=True, slots=True)
class TwinChosen:
    """Another stack than ``RaceStarted`` said runs twice, as that one could not be launched."""

    stack: str
    """Its path; empty: none does."""


@dataclass(frozen=True, slots=True)
class RaceResumed:
    """The race goes on after an interruption; ``race`` has all its launches, those of the cut block marked."""

    race: Race


@dataclass(frozen=True, slots=True)
class StackDescribed:
    """What exactly a stack is, known once it has been rendered."""

    facts: StackFacts


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """One shuffled pass begins."""

    block: int
    stacks: tuple[str, ...]
    """Paths, in their order."""
    eta_s: float | None
    """The time left, None where it cannot be foretold."""


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """One pass is over."""

    block: int
    """How many are over."""
    race: Race
    """Every launch so far, ready for the statistics."""


@dataclass(frozen=True, slots=True)
class LaunchStarted:
    """A stack is being started; ``launch`` has no slices yet."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class SliceEnded:
    """A slice is measured and checked; its launch is still open."""

    launch_id: str
    slice: Slice


@dataclass(frozen=True, slots=True)
class LaunchEnded:
    """A stack was stopped; ``launch`` is complete."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class RaceEnded:
    """The race is over."""

    ending: Ending
    elapsed_s: float
    duty: Duty | None = None
    """Where its time went."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What goes on at this moment."""

    activity: Activity
    stack: str | None = None
    """The path of the stack it concerns."""
    cell: Cell | None = None
    """What is measured."""
    disturbance: Disturbance | None = None
    """Who has the cores, while it waits for quiet."""


Event = (
    RaceStarted
    | TwinChosen
    | RaceResumed
    | StackDescribed
    | BlockStarted
    | BlockEnded
    | LaunchStarted
    | SliceEnded
    | LaunchEnded
    | RaceEnded
    | Progress
)

Sink = Callable[[Event], None]
