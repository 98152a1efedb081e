"""Events that a race sends to a sink while it runs; the race itself prints nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ..measure.host import Disturbance
from ..measure.launch import Launch, Slice, StackFacts
from .plan import Cell
from .results.race import Ending, Race
from .run.stopwatch import Duty


class Activity(StrEnum):
    """Current activity of a race, for progress displays."""

    STARTING = "starting"
    CALIBRATING = "calibrating"
    """The load engine measures its own limit."""
    LAUNCHING = "launching"
    WARMING_UP = "warming up"
    MEASURING = "measuring"
    STOPPING = "stopping"
    WAITING = "waiting for quiet"
    """Other programs use the cores."""

    @property
    def must_not_be_disturbed(self) -> bool:
        """True if drawing on a terminal would compete with the measurement."""
        return self is Activity.MEASURING


@dataclass(frozen=True, slots=True)
class RaceStarted:
    """Start of the race; ``race`` has no launches yet."""

    race: Race


@dataclass(frozen=True, slots=True)
class TwinChosen:
    """Change of the twin, as the stack of ``RaceStarted`` could not be launched."""

    stack: str
    """Path of the stack that now runs twice; empty if no stack does."""


@dataclass(frozen=True, slots=True)
class RaceResumed:
    """Start of a resumed race; ``race`` has all its launches, with those of the interrupted block marked as cut
    short."""

    race: Race


@dataclass(frozen=True, slots=True)
class StackDescribed:
    """Facts about a stack, known once it has been rendered."""

    facts: StackFacts


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """Start of a block."""

    block: int
    stacks: tuple[str, ...]
    """Paths of the block's stacks, in their order."""
    eta_s: float | None
    """Expected time until the race ends; None if it cannot be predicted."""


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """End of a block."""

    block: int
    """Number of blocks that are over."""
    race: Race
    """Record of all launches so far, ready for the statistics."""


@dataclass(frozen=True, slots=True)
class LaunchStarted:
    """Start of a stack; ``launch`` has no slices yet."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class SliceEnded:
    """End of a slice that was measured and checked; its launch is still open."""

    launch_id: str
    slice: Slice


@dataclass(frozen=True, slots=True)
class LaunchEnded:
    """End of a stack; ``launch`` is complete."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class RaceEnded:
    """End of the race."""

    ending: Ending
    elapsed_s: float
    duty: Duty | None = None
    """Time of the race by activity."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress at this moment."""

    activity: Activity
    stack: str | None = None
    """Path of the stack that the activity is about; None if it is about no single stack."""
    cell: Cell | None = None
    """Cell that is being measured; None during other activities."""
    disturbance: Disturbance | None = None
    """Programs that use the cores, while the race waits for quiet."""


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
