"""Where stacks are launched, loaded and probed: the race asks a place and assumes nothing more about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol, TypeVar

from ..measure.engine.engine import EngineRun, Play
from ..measure.host import Disturbance
from ..measure.launch import Failure, MemorySample, StackFacts
from ..measure.load import Load
from ..measure.workload import Workload
from ..stacks.stack import Side, Stack, side_of, side_path
from ..validity.observation import Aftermath, Observation

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
class RemoteEngine:
    """What this machine has to know of load engines on other machines."""

    host: str
    """The address of this machine on which stacks listen for them."""
    engine: Callable[[Play], EngineRun]
    """Makes a run of theirs in the place of one here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Several equal machines, on which blocks are raced at once."""

    machines: Mapping[str, Place]
    """By name, two at least."""


_T = TypeVar("_T")


class Sides:
    """A place of several on one machine: each stack goes to that of its side, under its plain name.

    ``workloads`` are a side's own, since its right answers may differ; others are the race's.
    """

    def __init__(
        self, places: Mapping[Side, Place], workloads: Mapping[Side, Sequence[Workload]] = MappingProxyType({})
    ) -> None:
        self._places = places
        self._own = {(side, each.name): each for side, theirs in workloads.items() for each in theirs}

    def calibrate(self, loads: Sequence[Load]) -> None:
        for place in self._places.values():
            place.calibrate(loads)

    def room_bytes(self) -> float:
        return min(place.room_bytes() for place in self._places.values())

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        launched = self._places[_side(stack)].launch(stack.plain, timeout_s)
        if launched.facts is None:
            return launched
        return replace(launched, facts=replace(launched.facts, stack=stack.path))

    def rest(self, limit_s: float = math.inf) -> None:
        for place in self._places.values():
            place.rest(limit_s)

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        side = _side(stack)
        own = self._own.get((side, workload.name), workload)
        return replace(self._places[side].load(stack.plain, own, load, rewarm_s, limit_s), stack=stack)

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        side = _side(stack)
        return self._places[side].warm_up(stack.plain, self._own.get((side, workload.name), workload), load, enough)

    def disturbance(self) -> Disturbance:
        return next(iter(self._places.values())).disturbance()

    def failure_of(self, stack: Stack) -> Failure | None:
        return self._places[_side(stack)].failure_of(stack.plain)

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        return _RetiringSides(
            {
                side: place.retire([stack.plain for stack in stacks if _side(stack) is side])
                for side, place in self._places.items()
            }
        )


def _side(stack: Stack) -> Side:
    side = side_of(stack.path)
    assert side is not None
    return side


class _RetiringSides:
    """Stacks of several sides on their way down."""

    def __init__(self, sides: Mapping[Side, Retiring]) -> None:
        self._sides = sides

    def finish(self) -> Retired:
        """Wait until all are gone."""
        gone = {side: retiring.finish() for side, retiring in self._sides.items()}
        return Retired(
            memory=_joined({side: each.memory for side, each in gone.items()}),
            complaints=_joined({side: each.complaints for side, each in gone.items()}),
            aftermaths=_joined({side: each.aftermaths for side, each in gone.items()}),
            took_s=max((each.took_s for each in gone.values()), default=0.0),
        )


def _joined(by_side: Mapping[Side, Mapping[str, _T]]) -> dict[str, _T]:
    return {side_path(path, side): it for side, by_path in by_side.items() for path, it in by_path.items()}


class RaceProcesses:
    """All processes of one race on this machine, by the places they belong to: none of them is foreign load."""

    def __init__(self) -> None:
        self.supervisors: list[int] = []
        """Process ids."""
        self._up: dict[int, Mapping[str, Sequence[int]]] = {}
        self._services: dict[int, Mapping[str, Sequence[int]]] = {}

    def join(self, supervisor: int, services: Mapping[str, Sequence[int]]) -> None:
        """Enter a place by its supervisor's process id, with the process ids of its services by name."""
        self.supervisors.append(supervisor)
        self._services[supervisor] = services

    def is_up(self, supervisor: int, stacks: Mapping[str, Sequence[int]]) -> None:
        """Enter the process ids of the stacks that are up on a place now, by path."""
        self._up[supervisor] = stacks

    def others(self, supervisor: int) -> dict[str, Sequence[int]]:
        """Return the process ids of what is up on all other places, under names that no stack has."""
        return {
            f"{other}/{name}": pids
            for other in self.supervisors
            if other != supervisor
            for name, pids in {**self._services[other], **self._up.get(other, {})}.items()
        }
