"""A race: what was asked, and everything that came of it."""

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
from ..stopwatch import Duty
from .parts import Parts


class Ending(StrEnum):
    """Why a race ended."""

    ANSWERED = "answered"
    BUDGET = "budget"
    COMPLETED = "completed"
    """Every run that was asked for was made."""
    EXHAUSTED = "exhausted"
    """Nothing was left to race: stacks failed, or only one remains."""
    INTERRUPTED = "interrupted"
    HOPELESS = "hopeless"
    """The rest of the budget was unlikely to decide, and the race was to end then."""


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
