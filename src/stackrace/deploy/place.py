"""Where stacks are launched, loaded and probed: the race asks a place and assumes nothing more about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..measure.host import Disturbance
from ..measure.launch import Failure, MemorySample
from ..measure.load import Load
from ..measure.workload import Workload
from ..stacks.facts import StackFacts
from ..stacks.stack import Stack
from ..validity import Aftermath, Observation

__all__ = ["REST_LOOK_S", "WARM_BIN_S", "Enough", "Fleet", "Launched", "Place", "Retired", "Retiring"]


REST_LOOK_S = 0.02
"""How long stacks are looked at before they are said to be at rest."""

WARM_BIN_S = 0.1
"""How often a warm-up is looked at: the engine counts in bins of this length."""

Enough = Callable[[Sequence[int]], bool]
"""Tells by the right answers in each ``WARM_BIN_S`` so far whether a stack is warm. Called once for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """What came of a launch: facts when the stack is up, a failure when it is not."""

    facts: StackFacts | None = None
    ready_s: float | None = None
    """How long the start took until all answers were right; None when it failed."""
    failure: Failure | None = None
    memory_bytes: int = 0
    """What the stack holds right after its start, the sum of its proportional set sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """What came of stopping stacks, by their paths."""

    memory: Mapping[str, tuple[MemorySample, ...]] = field(default_factory=dict)
    """What they held, from the first look to the last."""
    complaints: Mapping[str, Failure] = field(default_factory=dict)
    """Who had to be forced."""
    aftermaths: Mapping[str, Aftermath] = field(default_factory=dict)
    """What each was when it was stopped, and what was left of it."""
    took_s: float = 0.0
    """How long it took until the last of them was gone."""


class Retiring(Protocol):
    """Stacks on their way down: others may be launched meanwhile, but nothing is to be measured."""

    def finish(self) -> Retired:
        """Wait until they are gone, and nothing is left of them; another call returns the same."""


class Place(Protocol):
    """One machine, or later several, that can host stacks and send load to them."""

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Find out, before anything is launched, how much of each of ``loads`` could be sent here at all."""

    def room_bytes(self) -> float:
        """Tell how much memory stacks could still be given here; infinite where that is unknown."""

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` and wait until it answers rightly. A failure is data; nothing is left running then."""

    def rest(self, limit_s: float = math.inf) -> None:
        """Let the stacks that are up work off what the last load left in their queues.

        For some seconds at most, and ``limit_s``.
        """

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        """Send ``workload`` as ``load`` says after ``rewarm_s`` seconds of the same, unrecorded; probe meanwhile.

        After ``limit_s`` recorded seconds it is cut off, however much is left to send.
        """

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send ``workload`` as ``load`` says, unrecorded, until that is ``enough``; return the seconds spent."""

    def disturbance(self) -> Disturbance:
        """Look for a moment what other programs have of the race's cores, while no load is sent."""

    def failure_of(self, stack: Stack) -> Failure | None:
        """Tell whether ``stack`` died since it was launched."""

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        """Begin to stop ``stacks``, and then to verify that nothing of them is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Several equal machines, on which blocks are raced at once."""

    machines: Mapping[str, Place]
    """By name, two at least."""
