"""Interface of a machine that launches, loads and probes stacks; the race assumes nothing more about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
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
from .incident import Incident

REST_LOOK_S = 0.02
"""Seconds of one check whether stacks are at rest."""

WARM_BIN_S = 0.1
"""Length in seconds of the bins in which the engine counts a warm-up."""

Enough = Callable[[Sequence[int]], bool]
"""Function that tells whether a stack is warm from its right answers in each ``WARM_BIN_S``; called after each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """Result of a launch: facts if the stack is up, a failure if not."""

    facts: StackFacts | None = None
    ready_s: float | None = None
    """Seconds from the start until all answers were right; None after a failure."""
    failure: Failure | None = None
    memory_bytes: int = 0
    """Memory of the stack right after its start, the sum of its proportional set sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """Results of stopping stacks, by their paths."""

    memory: Mapping[str, tuple[MemorySample, ...]] = field(default_factory=dict)
    """Memory samples of each, from first to last."""
    complaints: Mapping[str, Failure] = field(default_factory=dict)
    """Stacks that had to be killed."""
    aftermaths: Mapping[str, Aftermath] = field(default_factory=dict)
    """State of each when it was stopped, and what it left behind."""
    took_s: float = 0.0
    """Seconds until the last of them was gone."""


class Retiring(Protocol):
    """Stacks that are stopping: others may be launched meanwhile, but nothing must be measured."""

    def finish(self) -> Retired:
        """Wait until they are gone without a trace; a further call returns the same."""


class Machine(Protocol):
    """A machine, or several, that can host stacks and send load to them."""

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure, before any launch, the highest rate that each of ``loads`` could reach here."""

    def room_bytes(self) -> float:
        """Return how much memory is left for stacks here; infinite if that is unknown."""

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` and wait until it answers correctly; return a failure with nothing left running."""

    def rest(self, limit_s: float = math.inf) -> None:
        """Wait until the running stacks have worked off the requests that the last load left in their queues.

        Waits some seconds at most, and no longer than ``limit_s``.
        """

    def load(
        self,
        stack: Stack,
        workload: Workload,
        load: Load,
        rewarm_s: float,
        limit_s: float = math.inf,
        meanwhile: Incident | None = None,
    ) -> Observation:
        """Send ``workload`` as ``load`` after an unrecorded warm-up of ``rewarm_s`` seconds; probe meanwhile.

        It is cut off after ``limit_s`` recorded seconds, however much is left to send. ``meanwhile`` is called once
        the load is recorded, and cuts it off when it returns, whatever the limit; its error is raised.
        """

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send ``workload`` as ``load``, unrecorded, until that is ``enough``; return the seconds spent."""

    def disturbance(self) -> Disturbance:
        """Measure briefly how much of the race's cores other programs use, while no load is sent."""

    def failure_of(self, stack: Stack) -> Failure | None:
        """Return the failure of ``stack`` if it died since its launch; None if it is well."""

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        """Begin to stop ``stacks``, and then to verify that they left nothing behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteEngine:
    """Load engines on other machines, as this machine uses them."""

    host: str
    """Address of this machine that stacks listen on for them."""
    engine: Callable[[Play], EngineRun]
    """Function that makes a run of theirs in place of a local one."""


_T = TypeVar("_T")


class Sides:
    """Deployments on one machine as one: each stack goes to that of its side, under its plain name.

    ``workloads`` are those of a side whose right answers may differ; other sides use the race's. ``search`` is told
    once of each page that changes in one side's app, with the side.
    """

    def __init__(
        self,
        machines: Mapping[Side, Machine],
        workloads: Mapping[Side, Sequence[Workload]] = MappingProxyType({}),
        search: Callable[[Side, Collection[str]], None] = lambda side, pages: None,
    ) -> None:
        self._machines, self._search = machines, search
        self._changing: set[tuple[Side, str]] = set()
        self._own = {(side, each.name): each for side, theirs in workloads.items() for each in theirs}

    def calibrate(self, loads: Sequence[Load]) -> None:
        for machine in self._machines.values():
            machine.calibrate(loads)

    def room_bytes(self) -> float:
        return min(machine.room_bytes() for machine in self._machines.values())

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        launched = self._machines[_side(stack)].launch(stack.plain, timeout_s)
        if launched.facts is None:
            return launched
        return replace(launched, facts=replace(launched.facts, stack=stack.path))

    def rest(self, limit_s: float = math.inf) -> None:
        for machine in self._machines.values():
            machine.rest(limit_s)

    def load(
        self,
        stack: Stack,
        workload: Workload,
        load: Load,
        rewarm_s: float,
        limit_s: float = math.inf,
        meanwhile: Incident | None = None,
    ) -> Observation:
        side = _side(stack)
        own = self._own.get((side, workload.name), workload)
        observed = self._machines[side].load(stack.plain, own, load, rewarm_s, limit_s, meanwhile)
        if fresh := [page for page in observed.changing if (side, page) not in self._changing]:
            self._changing |= {(side, page) for page in fresh}
            self._search(side, fresh)
        return replace(observed, stack=stack)

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        side = _side(stack)
        return self._machines[side].warm_up(
            stack.plain, self._own.get((side, workload.name), workload), load, enough
        )

    def disturbance(self) -> Disturbance:
        return next(iter(self._machines.values())).disturbance()

    def failure_of(self, stack: Stack) -> Failure | None:
        return self._machines[_side(stack)].failure_of(stack.plain)

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        return _RetiringSides(
            {
                side: machine.retire([stack.plain for stack in stacks if _side(stack) is side])
                for side, machine in self._machines.items()
            }
        )


def _side(stack: Stack) -> Side:
    side = side_of(stack.path)
    assert side is not None
    return side


class _RetiringSides:
    """Stopping stacks of several sides."""

    def __init__(self, sides: Mapping[Side, Retiring]) -> None:
        self._sides = sides

    def finish(self) -> Retired:
        """Wait until all are gone."""
        gone = {side: retiring.finish() for side, retiring in self._sides.items()}
        return Retired(
            memory=_by_side_path({side: each.memory for side, each in gone.items()}),
            complaints=_by_side_path({side: each.complaints for side, each in gone.items()}),
            aftermaths=_by_side_path({side: each.aftermaths for side, each in gone.items()}),
            took_s=max((each.took_s for each in gone.values()), default=0.0),
        )


def _by_side_path(by_side: Mapping[Side, Mapping[str, _T]]) -> dict[str, _T]:
    return {side_path(path, side): it for side, by_path in by_side.items() for path, it in by_path.items()}


class RaceProcesses:
    """All processes of one race on this machine, by deployment: none of them is foreign load."""

    def __init__(self) -> None:
        self.supervisors: list[int] = []
        """Process ids of the supervisors."""
        self._up: dict[int, Mapping[str, Sequence[int]]] = {}
        self._services: dict[int, Mapping[str, Sequence[int]]] = {}

    def join(self, supervisor: int, services: Mapping[str, Sequence[int]]) -> None:
        """Add a deployment by its supervisor's process id, with the process ids of its services by name."""
        self.supervisors.append(supervisor)
        self._services[supervisor] = services

    def is_up(self, supervisor: int, stacks: Mapping[str, Sequence[int]]) -> None:
        """Set the process ids of the stacks of a deployment that run now, by path."""
        self._up[supervisor] = stacks

    def others(self, supervisor: int) -> dict[str, Sequence[int]]:
        """Return the process ids of stacks and services of all other deployments, under names that no stack has."""
        return {
            f"{other}/{name}": pids
            for other in self.supervisors
            if other != supervisor
            for name, pids in {**self._services[other], **self._up.get(other, {})}.items()
        }
