"""What will be done in a race: the race as it will be kept, and what is kept of nobody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..app.app import App
from ..measure.load import Load
from ..measure.workload import PageTime, Workload
from ..stacks.stack import Stack, original_path
from .results.race import Race


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is measured at a time: one stack under one load of one workload."""

    stack: Stack
    workload: Workload
    load: Load

    @property
    def level(self) -> tuple[str, str]:
        """What cells that are compared with one another share: the names of workload and load."""
        return self.workload.name, self.load.label

    @property
    def label(self) -> str:
        """The level as reports name it."""
        return self.load.named(self.workload.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RacePlan:
    """A race that can be run: the record that will grow, and what it takes to make it grow.

    A store keeps the race alone: the app's variables may be secret, and right answers are large.
    """

    race: Race
    """Its question, loads, budget, seed …; the launches that were made before an interruption."""
    app: App
    workloads: tuple[Workload, ...]
    stacks: tuple[Stack, ...]
    """Those whose paths the race has."""
    slice_s: float | None = None
    """The length of a slice, in seconds; None: fitted to the budget."""
    twin: bool = True
    """Whether one stack runs twice under two names, to show what the race takes for a difference."""
    loading: PageTime = field(default_factory=PageTime)
    """What one process takes to load the app and to give each first answer."""
    start_cores: int = 1
    """How many cores a stack may use while it starts."""
    most_blocks: int | None = None
    """Blocks at most; None: as many as any race makes."""
    together: int | None = None
    """How many stacks may be up at once; None for as many as memory holds."""
    gives_up: bool = False
    """Whether the race ends at half of its budget where the rest of it is unlikely to decide."""
    left_out: tuple[Stack, ...] = ()
    """Stacks for which the budget is too short."""
    limit: tuple[str, ...] = ()
    """What was found to be the limit before the race, where that is no server; a sentence."""

    @property
    def budget_s(self) -> float | None:
        """The race's time, in seconds; an upper bound for runs, None without one."""
        return self.race.budget_s or None

    def among(self, stacks: tuple[Stack, ...]) -> RacePlan:
        """Return the plan of a race of these ``stacks``."""
        return replace(self, stacks=stacks, race=replace(self.race, stacks=tuple(stack.path for stack in stacks)))

    def cells(self, stacks: Iterable[Stack]) -> tuple[Cell, ...]:
        """Return the cells of ``stacks``, workload by workload and load by load; a twin has its original's."""
        racing, limits = tuple(stacks), self.race.limits
        return tuple(
            Cell(stack=stack, workload=workload, load=load)
            for workload in self.workloads
            for load in self.race.loads
            for stack in racing
            if workload.name not in limits or original_path(stack.path) in limits[workload.name]
        )
