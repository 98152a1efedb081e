"""A race: what was asked, and everything that came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...app.app import App
from ...app.revision import Source
from ...measure.expectation import RightAnswers
from ...measure.host import HostFacts, NetworkPath
from ...measure.launch import Launch
from ...measure.load import Load
from ...measure.resources import Resources
from ...measure.workload import PageTime, Workload
from ...stacks.facts import StackFacts
from ...stacks.stack import Stack, original_path
from ...stats.values.question import Question
from .duty import Duty
from .parts import Parts

__all__ = [
    "Cell",
    "Ending",
    "LeftOut",
    "Race",
    "RacePlan",
]


class Ending(StrEnum):
    """Why a race ended."""

    ANSWERED = "answered"
    BUDGET = "budget"
    COMPLETED = "completed"
    """Every run that was asked for was made."""
    EXHAUSTED = "exhausted"
    """Nothing was left to race: stacks failed, or only one remains."""
    INTERRUPTED = "interrupted"


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
    """Everything a race knows beforehand."""

    id: str
    app: App
    workloads: tuple[Workload, ...]
    stacks: tuple[Stack, ...]
    loads: tuple[Load, ...]
    question: Question
    difference: float
    """The difference in throughput that does not matter, 0.05 for 5 %."""
    budget_s: float | None
    """The race's time, in seconds; an upper bound for runs, None without one."""
    cores: Resources
    """What every stack may use."""
    seed: int
    """Of everything that is shuffled."""
    slice_s: float | None = None
    """The length of a slice, in seconds; None: fitted to the budget."""
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The only stacks, by path, that meet a workload, by its name."""
    repeats: int | None = None
    """Runs of each cell, every one on a fresh launch and as long as its load says; None: slices."""
    exhaustive: bool = False
    """Whether all stacks race for the whole budget, however early the answer comes."""
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

    def cells(self, stacks: Iterable[Stack]) -> tuple[Cell, ...]:
        """Return the cells of ``stacks``, workload by workload and load by load; a twin has its original's."""
        racing = tuple(stacks)
        return tuple(
            Cell(stack=stack, workload=workload, load=load)
            for workload in self.workloads
            for load in self.loads
            for stack in racing
            if workload.name not in self.limits or original_path(stack.path) in self.limits[workload.name]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A stack that nobody named, and that would have been raced if it could."""

    stack: str
    """Its path."""
    reason: str
    """With what helps, as errors have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A race as it is kept: what was asked, the host, and every launch so far."""

    id: str
    """Its id."""
    started_at: str
    """UTC in ISO 8601."""
    version: str
    """Of stackrace."""
    app: str
    """By name."""
    urls: tuple[str, ...]
    """Of its only workload; empty where there are several. A recorded session is the ``file:`` URL of its
    recording."""
    stacks: tuple[str, ...]
    """By path, without the twin."""
    loads: tuple[Load, ...]
    """The load levels."""
    question: Question
    """What it was to answer."""
    difference: float
    """The difference in throughput that does not matter, 0.05 for 5 %."""
    budget_s: float
    """In seconds; 0 for runs without one."""
    cores: Resources
    """What every stack could use."""
    seed: int
    """Of every shuffle."""
    host: HostFacts
    notes: tuple[str, ...] = ()
    """Sentences to be read with the result."""
    left_out: tuple[LeftOut, ...] = ()
    """Default stacks that cannot be raced here."""
    facts: tuple[StackFacts, ...] = ()
    launches: tuple[Launch, ...] = ()
    """In order of time."""
    elapsed_s: float = 0.0
    """The time it took, in seconds."""
    ending: Ending | None = None
    """None while the race runs, or when it was killed."""
    workloads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The URLs of several workloads, by name."""
    repeats: int | None = None
    """Runs of each cell, every one on a fresh launch; None for a race in slices."""
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The only stacks, by path, that met a workload, by its name."""
    exhaustive: bool = False
    """Whether no early answer was to end the race."""
    twin: str = ""
    """The path of the stack that also ran as its own hidden twin (``model.stack.twin_path``); empty without."""
    resumed: int = 0
    """How often the race went on after an interruption."""
    duty: Duty | None = None
    """Where its time went; None where nobody took it."""
    checks: Mapping[str, RightAnswers] = field(default_factory=dict)
    """What a right answer was by the user's word, by path, for each workload that has such rules. An only workload
    has no name."""
    source: Source | None = None
    """Whose code was raced; None for bundled apps, and where nobody noted it."""
    current: str = ""
    """The path of the stack that is what the project runs today; empty where none is."""
    parts: Parts = field(default_factory=Parts)
    """What features keep with it."""
    network: tuple[NetworkPath, ...] = ()
    """The ways between its engines and its hosts, a pair each, as they were before its first block, also where it
    went on later. None where each host sends its own load."""
    altered: str = ""
    """What its store says of changes since it ended, also the last of its notes; empty where there were none."""
    entry: str = ""
    """What of the app is raced, as the race file calls it: ``shop.wsgi:application``; empty for a bundled one."""
    unserved: tuple[str, ...] = ()
    """The stacks, by path, that do not serve the app's WebSockets; empty where it has none."""
