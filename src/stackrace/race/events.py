"""What a race tells the world while it runs: typed events, sent to a sink; the race itself prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.duty import Duty
from ..model.launch import Launch, Slice
from ..model.race import Cell, Ending, Race, StackFacts
from .activity import Activity

__all__ = [
    "BlockEnded",
    "BlockStarted",
    "Event",
    "LaunchEnded",
    "LaunchStarted",
    "Progress",
    "RaceEnded",
    "RaceResumed",
    "RaceStarted",
    "Sink",
    "SliceEnded",
    "StackDescribed",
    "TwinChosen",
]


@dataclass(frozen=True, slots=True)
class RaceStarted:
    """The race begins; ``race`` has no launches yet."""

    race: Race


@dataclass(frozen=True, slots=True)
class TwinChosen:
    """Another stack than ``RaceStarted`` said runs twice, as that one could not be launched; empty: none does."""

    stack: str


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
    """One shuffled pass begins; ``stacks`` in their order, ``eta_s`` the time left if it can be foretold."""

    block: int
    stacks: tuple[str, ...]
    eta_s: float | None


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """One pass is over; ``race`` holds every launch so far, ready for the statistics."""

    block: int
    race: Race


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
    """The race is over; ``duty`` tells where its time went."""

    ending: Ending
    elapsed_s: float
    duty: Duty | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """What goes on at this moment; ``stack`` is the path of the stack it concerns, ``cell`` what is measured."""

    activity: Activity
    stack: str | None = None
    cell: Cell | None = None


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
