"""A launch is one fresh start of a stack with the slices taken on it: the replicate of the statistics.

With what the stack was that was launched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..base.verdict import Finding, Verdict
from ..stacks.native_options import Concern
from ..stacks.stack import Origin
from .host import Conditions
from .load import Load, LoadResult, answered_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingFact:
    """One setting of one hop, and whose choice it was."""

    hop: str
    """The server's name."""
    name: str
    """Of an option in the server's own language with its dashes."""
    value: str
    """As a path writes it; for what only the server knows, what its configuration file says."""
    origin: Origin
    """Where the value comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFact:
    """One thing in a configuration file of the user's that the race decided otherwise."""

    hop: str
    """The server's name."""
    key: str
    """As the file calls it."""
    theirs: str
    """The value in the file."""
    concern: Concern
    """What it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFacts:
    """What exactly one stack was."""

    stack: str
    """The stack's path."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version by hop."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Rendered configuration by file name."""
    commands: tuple[str, ...] = ()
    """The commands that started it, in order."""
    settings: tuple[SettingFact, ...] = ()
    """All its settings, hop by hop."""
    changes: tuple[ChangeFact, ...] = ()
    """What had to be changed in configuration files of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopUsage:
    """What one hop's processes cost during a slice."""

    hop: str
    """The server's name, or +-joined names of servers inside one another."""
    cpu_s: float
    """CPU seconds, user and system, of children that ended meanwhile, too."""
    processes: int
    """Processes."""
    threads: int
    """Threads."""
    pss_bytes: int
    """Proportional set size in bytes, summed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySample:
    """The stack's memory at one moment."""

    at_s: float
    """Seconds from the launch's start."""
    pss_bytes: Mapping[str, int]
    """Proportional set size in bytes, by hop."""
    connections: int | None = None
    """The stack's established connections to database servers; None where nobody looked, or could."""

    @property
    def size_bytes(self) -> int:
        """What all hops together hold."""
        return sum(self.pss_bytes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One uninterrupted stretch of load on one launched stack."""

    index: int
    """Orders the slices of a race in time."""
    load: Load
    result: LoadResult
    usage: tuple[HopUsage, ...]
    """What the processes of each hop cost."""
    verdict: Verdict = field(default_factory=Verdict)
    workload: str = ""
    """By name; empty in races with a single workload."""
    conditions: Conditions | None = None
    """What the machine did meanwhile; None where nobody looked."""

    @property
    def valid(self) -> bool:
        """True for a slice that counts in the statistics."""
        return self.verdict.valid

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return answered_per_s(self.load, self.result)

    @property
    def cpu_s(self) -> float:
        """CPU seconds the whole stack spent."""
        return sum(hop.cpu_s for hop in self.usage)


class FailureKind(StrEnum):
    """How a stack let its race down."""

    NOT_STARTED = "not_started"
    NOT_READY = "not_ready"
    WRONG_ANSWER = "wrong_answer"
    DIED = "died"
    NOT_STOPPED = "not_stopped"
    REFUSED = "refused"
    """No measurement of it can be believed."""
    INTERRUPTED = "interrupted"
    UNMEASURED = "unmeasured"
    """It did nothing wrong, and was not measured."""


class EndedBy(StrEnum):
    """What ended a launch, or the whole race, before all was measured that was planned."""

    BUDGET = "budget"
    SHARE = "share of the budget"
    """Stacks that do not fit into memory together share the time of a block."""
    BUSY = "busy"
    """Other programs had the cores until the budget was over."""
    INTERRUPTED = "interrupted"
    ERROR = "error"
    LOST = "machine lost"
    DISTURBED = "disturbed"
    """Its blocks count for no stack, since other programs kept another one from a valid slice."""
    UNEQUAL = "unequal machine"
    """Its blocks count for no stack, since their machine has other ratios than the rest."""
    ANSWERED = "answered"
    COMPLETED = "completed"
    EXHAUSTED = "exhausted"
    HOPELESS = "hopeless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Why something that was planned was not measured, though no stack failed."""

    ended_by: EndedBy
    spent_s: Mapping[str, float] = field(default_factory=dict)
    """Where the time from the launch's readiness to its end went, as in `Duty`."""
    words: str = ""
    """What the error said, or who had the cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a launch, or a stack, gave no result, or only part of one."""

    kind: FailureKind
    message: str = ""
    """What happened, where no other field says it."""
    log: str = ""
    """The tail of the stack's own logs."""
    finding: Finding | None = None
    """What refused all measurements of the stack."""
    shortfall: Shortfall | None = None
    """What a stack that was not measured, or a launch that was cut short, met."""
    launches: int = 0
    """How many launches of the stack met it."""
    before: FailureKind | None = None
    """How an interrupted launch had failed before; ``message`` and ``log`` are of that failure then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One fresh start of a stack with the slices taken on it."""

    id: str
    """Its id."""
    block: int
    """The block it was made in, from 0."""
    stack: str
    """By path; the hidden twin's has an ending of its own."""
    ready_s: float | None = None
    """Seconds from the start of its first process to its first right answer; None where there was none."""
    warmup_s: float = 0.0
    """Seconds of load before its first slice."""
    slices: tuple[Slice, ...] = ()
    """In order of time."""
    memory: tuple[MemorySample, ...] = ()
    """In order of time."""
    failure: Failure | None = None
    shortfall: Shortfall | None = None
    """Why not all slices were taken that were planned; None where they were, or ``failure`` says it."""
    verdict: Verdict = field(default_factory=Verdict)
    """About the launch as a whole; an invalid one keeps all its slices out of the statistics."""
    machine: str = ""
    """The name of the machine it was made on, where there are several; all launches of a block are on one."""

    @property
    def peak_bytes(self) -> int:
        """The most memory that all its hops together were seen to hold, 0 when nobody looked."""
        return max((sample.size_bytes for sample in self.memory), default=0)

    @property
    def peak_connections(self) -> int | None:
        """The most connections to database servers that it was seen to hold; None when nobody could look."""
        return max((sample.connections for sample in self.memory if sample.connections is not None), default=None)

    @property
    def cut_short(self) -> bool:
        """Whether it belongs to a block that an interruption cut: kept, but raced again, so it counts nowhere."""
        return self.failure is not None and self.failure.kind is FailureKind.INTERRUPTED
