"""Launches with their slices and failures, and facts about the launched stacks.

A launch is one fresh start of a stack: the replicate of the statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..base.verdict import Finding, Verdict
from ..stacks.native_files import Concern
from ..stacks.setting import Origin
from .host import Conditions
from .load import Load, LoadResult, answered_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingFact:
    """One setting of one hop, with its origin."""

    hop: str
    """The server's name."""
    name: str
    """Name of the setting; an option in the server's own language keeps its dashes."""
    value: str
    """Value as a path writes it, or as the configuration file has it if only the server knows the setting."""
    origin: Origin
    """Origin of the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFact:
    """One setting in a configuration file of the user's that the race overrode."""

    hop: str
    """The server's name."""
    key: str
    """Name of the setting in the file."""
    theirs: str
    """The value in the file."""
    concern: Concern
    """Subject of the setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFacts:
    """Versions, configurations, commands and settings of one stack."""

    stack: str
    """The stack's path."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version by hop."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Rendered configuration by file name."""
    commands: tuple[str, ...] = ()
    """Commands that started the stack, in order."""
    settings: tuple[SettingFact, ...] = ()
    """All settings of the stack, hop by hop."""
    changes: tuple[ChangeFact, ...] = ()
    """Settings that the race overrode in configuration files of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopUsage:
    """Resources that one hop's processes used during a slice."""

    hop: str
    """The server's name, or the names of servers inside one another, joined by +."""
    cpu_s: float
    """CPU seconds, user and system, including children that ended meanwhile."""
    processes: int
    """Number of processes."""
    threads: int
    """Number of threads."""
    pss_bytes: int
    """Proportional set size in bytes, summed over the processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySample:
    """The stack's memory at one moment."""

    at_s: float
    """Seconds from the launch's start."""
    pss_bytes: Mapping[str, int]
    """Proportional set size in bytes, by hop."""
    connections: int | None = None
    """Established connections of the stack to database servers; None if they were not, or could not be, counted."""

    @property
    def size_bytes(self) -> int:
        """Memory of all hops together, in bytes."""
        return sum(self.pss_bytes.values())


class BottleneckKind(StrEnum):
    """Kind of thing that a stack's answers wait for."""

    CPU = "CPU"
    SERVICE = "service"
    DATABASE = "database"
    LOCK = "lock"
    WAITING = "waiting"
    SHORT = "short"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """Place where the time of a stack's answers goes, and how many are served at once."""

    kind: BottleneckKind
    """CPU: the cores are busy with the stack; service: most of all with a service; database, lock: its threads wait
    for one; waiting: the app waits, with as many requests at once as there can be; short: with fewer."""
    name: str = ""
    """Hop or service that uses most of the CPU."""
    places: int | None = None
    """Most requests that can be served at once; null if unknown."""
    unit: str = ""
    """Each of these serves one: ``connection``, ``process`` or ``thread``; empty if unknown."""
    at_once: float | None = None
    """Requests served at once: throughput times ``page_s``, by Little's law; null if unknown."""
    page_s: float | None = None
    """Seconds that a page takes without any server; null if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One uninterrupted stretch of load on one launched stack."""

    index: int
    """Number of the slice; ascends with time in a race."""
    load: Load
    result: LoadResult
    usage: tuple[HopUsage, ...]
    """Resources that the processes of each hop used."""
    verdict: Verdict = field(default_factory=Verdict)
    workload: str = ""
    """Name of the workload; empty in races with a single workload."""
    conditions: Conditions | None = None
    """Conditions on the machine during the slice; None if nobody watched."""
    bottleneck: Bottleneck | None = None
    """Place where the time goes; None if the figures do not decide."""

    @property
    def valid(self) -> bool:
        """True if the slice counts in the statistics."""
        return self.verdict.valid

    @property
    def throughput_per_s(self) -> float:
        """Right answers per second."""
        return answered_per_s(self.load, self.result)

    @property
    def cpu_s(self) -> float:
        """CPU seconds that the whole stack spent."""
        return sum(hop.cpu_s for hop in self.usage)


class FailureKind(StrEnum):
    """Kind of a stack's failure."""

    NOT_STARTED = "not_started"
    NOT_READY = "not_ready"
    WRONG_ANSWER = "wrong_answer"
    DIED = "died"
    NOT_STOPPED = "not_stopped"
    REFUSED = "refused"
    """No measurement of the stack is valid."""
    INTERRUPTED = "interrupted"
    UNMEASURED = "unmeasured"
    """The stack did not fail, but was not measured."""


class EndedBy(StrEnum):
    """Reason why a launch, or the whole race, ended."""

    BUDGET = "budget"
    SHARE = "share of the budget"
    """The stack's share of a block's time was over: stacks that do not fit into memory together share it."""
    BUSY = "busy"
    """Other programs used the cores until the budget was over."""
    INTERRUPTED = "interrupted"
    ERROR = "error"
    LOST = "machine lost"
    DISTURBED = "disturbed"
    """No block of the stack counts: in each, other programs kept another stack from a valid slice."""
    UNEQUAL = "unequal machine"
    """No block of the stack counts: the ratios on their machine differ from the rest."""
    ANSWERED = "answered"
    COMPLETED = "completed"
    EXHAUSTED = "exhausted"
    HOPELESS = "hopeless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Reason why something planned was not measured although no stack failed."""

    ended_by: EndedBy
    spent_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds from the launch's readiness to its end, by activity as in `race.run.stopwatch.Duty`."""
    words: str = ""
    """Message of the error, or the programs that used the cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Reason why a launch, or a stack, gave no result or only part of one."""

    kind: FailureKind
    message: str = ""
    """Description of the failure, if no other field gives it."""
    log: str = ""
    """Last lines of the stack's own logs."""
    finding: Finding | None = None
    """Finding that made all measurements of the stack invalid."""
    shortfall: Shortfall | None = None
    """Reason why a stack was not measured, or a launch was cut short."""
    launches: int = 0
    """Number of launches of the stack with this failure."""
    before: FailureKind | None = None
    """Earlier failure of a launch that was then interrupted; ``message`` and ``log`` belong to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One fresh start of a stack with the slices taken on it."""

    id: str
    """Identifier of the launch."""
    block: int
    """Number of the launch's block, from 0."""
    stack: str
    """Path of the stack; the hidden twin's path has an ending of its own."""
    ready_s: float | None = None
    """Seconds from the start of the first process to the first right answer; None if there was none."""
    warmup_s: float = 0.0
    """Seconds of load before the first slice."""
    slices: tuple[Slice, ...] = ()
    """Slices in order of time."""
    memory: tuple[MemorySample, ...] = ()
    """Memory samples in order of time."""
    failure: Failure | None = None
    shortfall: Shortfall | None = None
    """Reason why fewer slices were taken than planned; None if all were taken or ``failure`` gives the reason."""
    verdict: Verdict = field(default_factory=Verdict)
    """Verdict on the launch as a whole; if it is invalid, none of its slices counts in the statistics."""
    machine: str = ""
    """Name of the launch's machine if there are several; all launches of a block are on one."""

    @property
    def peak_bytes(self) -> int:
        """Largest memory of all hops together in one sample, in bytes; 0 without samples."""
        return max((sample.size_bytes for sample in self.memory), default=0)

    @property
    def peak_connections(self) -> int | None:
        """Most connections to database servers in one sample; None if they were never counted."""
        return max((sample.connections for sample in self.memory if sample.connections is not None), default=None)

    @property
    def cut_short(self) -> bool:
        """True if an interruption cut its block: the launch is kept, but raced again, so it counts nowhere."""
        return self.failure is not None and self.failure.kind is FailureKind.INTERRUPTED
