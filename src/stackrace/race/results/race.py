"""A race: the request and everything that it measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...app.revision import Source
from ...measure.host import HostFacts, NetworkPath
from ...measure.launch import Launch, StackFacts
from ...measure.load import Load
from ...measure.resources import Resources
from ...measure.workload import RightAnswers
from ...stats.values import Question
from ..run.stopwatch import Duty
from .parts import Parts


class Ending(StrEnum):
    """The reason why a race ended."""

    ANSWERED = "answered"
    BUDGET = "budget"
    COMPLETED = "completed"
    """All requested runs were made."""
    EXHAUSTED = "exhausted"
    """Nothing was left to race: stacks failed, or only one remains."""
    INTERRUPTED = "interrupted"
    HOPELESS = "hopeless"
    """The rest of the budget was unlikely to decide, and the user had asked to end the race then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A stack that cannot be raced here."""

    stack: str
    """Path of the stack."""
    reason: str
    """The reason with its remedy, as in error messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A race as stored: the request, the host, and every launch so far."""

    id: str
    """Id of the race."""
    started_at: str
    """Start in UTC, ISO 8601."""
    version: str
    """Version of stackrace."""
    app: str
    """Name of the app."""
    urls: tuple[str, ...]
    """URLs of the only workload; empty if there are several. A recorded session is the ``file:`` URL of its
    recording."""
    stacks: tuple[str, ...]
    """Paths of the stacks, without the twin."""
    loads: tuple[Load, ...]
    """The load levels."""
    question: Question
    """The question to answer."""
    difference: float
    """The difference in throughput that does not matter, 0.05 for 5 %."""
    budget_s: float
    """Time for the race in seconds; 0 for runs without a budget."""
    cores: Resources
    """Cores, memory and quota that every stack may use."""
    seed: int
    """Seed of every shuffle."""
    host: HostFacts
    notes: tuple[str, ...] = ()
    """Sentences to be read with the result."""
    left_out: tuple[LeftOut, ...] = ()
    """Stacks that cannot be raced here."""
    facts: tuple[StackFacts, ...] = ()
    launches: tuple[Launch, ...] = ()
    """All launches in order of time."""
    elapsed_s: float = 0.0
    """Duration of the race so far, in seconds."""
    ending: Ending | None = None
    """The reason why it ended; None while it runs, or if it was killed."""
    workloads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The URLs of several workloads, by name."""
    repeats: int | None = None
    """Runs of each cell, each on a fresh launch; None for a race in slices."""
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths of the only stacks that met a workload, by its name."""
    exhaustive: bool = False
    """True if no early answer was to end the race."""
    twin: str = ""
    """Path of the stack that also ran as its own hidden twin (``stacks.stack.twin_path``); empty without a twin."""
    resumed: int = 0
    """Number of times that the race was resumed after an interruption."""
    duty: Duty | None = None
    """Seconds by activity; None if not recorded."""
    checks: Mapping[str, RightAnswers] = field(default_factory=dict)
    """The user's rules for right answers, by path, for each workload that has some. An only workload has the name
    ``""``."""
    source: Source | None = None
    """Revision of the raced code; None for bundled apps, or if not recorded."""
    current: str = ""
    """Path of the stack that the project runs today; empty if there is none."""
    parts: Parts = field(default_factory=Parts)
    """Data that features store with the race."""
    network: tuple[NetworkPath, ...] = ()
    """Network paths between load engines and hosts, one for each pair, as measured before the first block, also in
    a resumed race. Empty if each host sends its own load."""
    altered: str = ""
    """The store's warning of changes after the race's end, also the last of its notes; empty if unchanged."""
    entry: str = ""
    """Entry point of the app as in the race file: ``shop.wsgi:application``; empty for a bundled app."""
    unserved: tuple[str, ...] = ()
    """Paths of the stacks that do not serve the app's WebSockets; empty if it has none."""
