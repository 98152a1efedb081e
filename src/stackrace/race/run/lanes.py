"""Lanes of a race: the machines on which its blocks run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...deploy.machine import Machine
from ...stacks.stack import Stack
from ..events import Sink
from ..pacing.overhead import planned_launch_s
from ..plan import RacePlan
from .blocks import Blocks
from .ledger import Ledger
from .resume import blocks_done
from .scheduling import Scheduling
from .steps import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One machine with its steps, and its blocks, whose lengths depend on the cost of launches there."""

    steps: Steps
    blocks: Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Parts of a race that all its lanes use."""

    plan: RacePlan
    scheduling: Scheduling
    ledger: Ledger
    sink: Sink

    def lane(self, machine: Machine, name: str = "", sink: Sink | None = None) -> Lane:
        """Return the lane of ``machine``, whose events go to ``sink`` if given."""
        steps = Steps(
            number=blocks_done(self.plan.race),
            machine_name=name,
            machine=machine,
            ledger=self.ledger,
            sink=sink or self.sink,
            start_s=planned_launch_s(self.plan),
            relaunches_failed=self.scheduling.relaunches_failed,
        )
        return Lane(steps=steps, blocks=self.scheduling.blocks(self.plan))


class Lanes(Protocol):
    """Lanes of a race, which advance by whole rounds of one block each, so that no pair of slices is split."""

    @property
    def done(self) -> int:
        """Number of blocks that are over."""

    @property
    def all(self) -> Sequence[Lane]:
        """Lanes that are left; the first one's stopwatch counts."""

    def finish_stops(self) -> None:
        """Wait until all stopping stacks are gone."""

    def round(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block in each lane; return False if there is none left."""


class OneLane:
    """The only lane of a race on one machine."""

    def __init__(self, machine: Machine, course: Course) -> None:
        self.all = (course.lane(machine),)
        self.done = self.all[0].steps.number

    def finish_stops(self) -> None:
        """Wait until all stopping stacks are gone."""
        self.all[0].steps.pending_stops.finish()

    def round(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block; return False if there is none left."""
        lane = self.all[0]
        made = lane.blocks.run_next(lane.steps, racing, remaining_s)
        self.done += made
        lane.steps.number = self.done
        return made


MakeLanes = Callable[[Machine, Course], Lanes]
"""Function that makes the lanes of a race on a machine."""
