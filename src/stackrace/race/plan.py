"""The plan of a race: the race as it will be stored, and what is never stored."""

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
    """Smallest part of a race: one stack under one load of one workload."""

    stack: Stack
    workload: Workload
    load: Load

    @property
    def level(self) -> tuple[str, str]:
        """Names of workload and load; cells with the same names are compared."""
        return self.workload.name, self.load.label

    @property
    def label(self) -> str:
        """Name of the level in reports."""
        return self.load.named(self.workload.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RacePlan:
    """A race that can be run: the record that will grow, and everything needed to run it.

    Only the race is stored: the app's variables may be secret, and right answers are large.
    """

    race: Race
    """Record with question, loads, budget, seed …, and the launches before an interruption."""
    app: App
    workloads: tuple[Workload, ...]
    stacks: tuple[Stack, ...]
    """Stacks to race, in the order of ``race.stacks``."""
    slice_s: float | None = None
    """Length of a slice, in seconds; None: fitted to the budget."""
    twin: bool = True
    """True if one stack runs twice under two names, to show the differences that the race finds by mistake."""
    loading: PageTime = field(default_factory=PageTime)
    """Time for a process to load the app and to give each first answer."""
    start_cores: int = 1
    """Number of cores that a stack may use while it starts."""
    most_blocks: int | None = None
    """The most blocks of this race; None: the limit of all races."""
    together: int | None = None
    """The most stacks that may be up at once; None for as many as memory holds."""
    gives_up: bool = False
    """True if the race ends at half of its budget when the rest is unlikely to decide."""
    left_out: tuple[Stack, ...] = ()
    """Stacks that the budget is too short for."""
    limit: tuple[str, ...] = ()
    """Sentence about a limit found before the race that is not a server, such as a thread pool; empty if none was
    found."""

    @property
    def budget_s(self) -> float | None:
        """Time for the race in seconds, for runs an upper bound; None without a limit."""
        return self.race.budget_s or None

    def among(self, stacks: tuple[Stack, ...]) -> RacePlan:
        """Return the plan for a race of only these ``stacks``."""
        return replace(self, stacks=stacks, race=replace(self.race, stacks=tuple(stack.path for stack in stacks)))

    def cells(self, stacks: Iterable[Stack]) -> tuple[Cell, ...]:
        """Return the cells of ``stacks``, workload by workload and load by load; a twin has the same cells as its
        original."""
        racing, limits = tuple(stacks), self.race.limits
        return tuple(
            Cell(stack=stack, workload=workload, load=load)
            for workload in self.workloads
            for load in self.race.loads
            for stack in racing
            if workload.name not in limits or original_path(stack.path) in limits[workload.name]
        )
