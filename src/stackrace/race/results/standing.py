"""The result of a race: tiers, ratios with confidence limits, ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ...base.numbers import Interval
from ...base.verdict import Verdict
from ...measure.launch import Failure
from ...measure.load import Load, Quantiles
from ...stats.values import MachineComparison, ScalingCurve
from .answer import Answer, AnswerKind, Condition, Lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the hops of one stack need; services beside it are not counted. None where nobody knows."""

    stack: str
    """By path."""
    memory_bytes: float | None
    """The highest sum of PSS that was seen."""
    cpu_ms_per_request: float | None
    """A mean over all requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What the stack that the answer names needs, against the next row and against a cheaper equal.

    Neither memory nor CPU time has limits, so small differences say nothing.
    """

    first: Need
    """The stack that the answer names."""
    second: Need
    """The best row of another stack."""
    ratio: Interval | None = None
    """The throughput of ``first`` over that of ``second``, where it is proved better."""
    cheaper: Need | None = None
    """A stack of the first tier that needs clearly less, if there is one."""
    equal: bool = False
    """Whether ``cheaper`` is proved as good; otherwise it only cannot be told from ``first``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """The CPU time of one stack, in ms per request."""

    stack: str
    """By path."""
    hops: Mapping[str, float]
    """By hop of the stack, the dearest first."""
    services: Mapping[str, float] = field(default_factory=dict)
    """By service beside the stack, such as PostgreSQL."""

    @property
    def total_ms(self) -> float:
        """What all hops of the stack take, services left out."""
        return sum(self.hops.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why the second row is behind the first, as far as CPU time tells."""

    first: CpuTime
    """That of the leader."""
    second: CpuTime | None = None
    """None where there is one row only."""
    not_cpu: bool = False
    """Whether the second stack is proved slower, though its requests take no more CPU time."""
    hop: str = ""
    """The hop that only the second stack has, where it makes most of the difference; else empty."""


class StandingNotice:
    """Subclasses are frozen dataclasses; a race's JSON document shows them as ``current``."""

    __slots__ = ()

    unshown: ClassVar[tuple[str, ...]] = ()
    """Fields that the document does without."""

    @property
    def is_news(self) -> bool:
        """Whether it comes before the answer, and explains the errors of its stack."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One stack at one load level."""

    stack: str
    """By path."""
    tier: int
    """1 is the best: in a later one are those whose ``ratio`` has limits below 1. No order is claimed within a
    tier."""
    rank: tuple[int, int]
    """The first and the last place that the stack may hold."""
    throughput_per_s: Interval
    """Right answers per second at the leader's moments: the rates of two rows have the quotient of their ratios.
    The limits are of this rate by itself; reports show those of the ratio."""
    ratio: Interval
    """Its throughput over the leader's; 1 for the leader itself. The limits of all rows hold together with 95 %
    confidence."""
    latency: Quantiles
    """Of all its requests together."""
    errors: int
    """Requests answered wrongly or not at all."""
    requests: int
    """Requests whose fate is known, errors included."""
    cpu_ms_per_request: Mapping[str, float]
    """By hop."""
    memory_bytes: Mapping[str, int]
    """The peak of PSS, by hop."""
    launches: int
    """Valid ones."""
    slices: int
    """Valid ones."""
    p50_without_network_s: float | None = None
    """An estimate: the median latency less the round trip of the median answer, in seconds, at least 0. Two round
    trips are taken off where most requests opened a connection. None where the load came from the same machine."""
    ready_s: float | None = None
    """Seconds from its start to its first right answer; None where that is unknown."""
    latency_limits: Mapping[str, Interval | None] = field(default_factory=dict)
    """Quantiles in seconds with their 95 % limits, by name (``p99``): None for one that too few requests lie above,
    no member for one that nobody looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The rows of one workload at one load level, best tier first."""

    load: Load
    rows: tuple[Row, ...]
    """A row for each stack."""
    workload: str = ""
    """By name; empty where it is the only one."""

    @property
    def label(self) -> str:
        """The level as tables name it: ``c=20``, and where a race has several workloads ``static, c=20``."""
        return self.load.named(self.workload)

    @property
    def where(self) -> str:
        """The level within a heading: ``at c=20``, ``on static at c=20``."""
        return (f"on {self.workload} " if self.workload else "") + f"at {self.load.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """A stack without a place in the standing, and why."""

    stack: str
    """By path."""
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stack with a figure at other levels, and why it has none at this one."""

    stack: str
    """By path."""
    load: Load
    workload: str = ""
    """By name; empty where the race has a single one."""
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a race says, as data; ``report.words`` makes the sentences."""

    answer: Answer = field(default_factory=lambda: Answer(kind=AnswerKind.NOTHING))
    headline: int = 0
    """The level the answer speaks of, by its place in ``levels``."""
    levels: tuple[Level, ...] = ()
    """Each workload at each load level."""
    leads: tuple[Lead, ...] = ()
    """Who holds the first place at each of ``levels``; empty where the race is void."""
    reason: Reason | None = None
    """Where the CPU time of the first two rows goes."""
    costs: Costs | None = None
    """What the winner needs, against others."""
    conditions: tuple[Condition, ...] = ()
    """What would have to be true for the answer to change, the likeliest first."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Stacks without a place in the standing."""
    gaps: tuple[Gap, ...] = ()
    """Levels at which a stack that has a place has no figure."""
    warnings: Mapping[str, int] = field(default_factory=dict)
    """How often each check warned, by its name."""
    resolution: float | None = None
    """The smallest difference in throughput that the headline level could show, 0.04 for 4 %; None while too few
    launches allow any limits."""
    verdict: Verdict = field(default_factory=Verdict)
    """What the checks say about the race as a whole. Where it is invalid the race is void: believe nothing."""
    scaling: tuple[ScalingCurve, ...] = ()
    """A curve for each stack and workload with two levels or more."""
    current: StandingNotice | None = None
    """What the project runs today against the stack that the answer names; None where nobody knows what that is."""
    machines: tuple[MachineComparison, ...] = ()
    """Each stack machine beside the one that measured most; empty where there is one alone. What is said of stacks
    leaves out the blocks of machines whose ratios are unequal."""

    @property
    def settled(self) -> bool:
        """Whether the question is answered."""
        return self.answer.settled

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the headline level; none when nothing could be measured."""
        return self.levels[self.headline].rows if self.levels else ()

    @property
    def foremost(self) -> tuple[Level, ...]:
        """The levels to look at first: the headline, then of each other workload the highest that has rivals."""
        if not self.levels:
            return ()
        headline = self.levels[self.headline]
        highest: dict[str, Level] = {}
        for level in self.levels:
            known = highest.get(level.workload)
            if len(level.rows) > 1 and (known is None or level.load.concurrency > known.load.concurrency):
                highest[level.workload] = level
        return (headline, *(level for name, level in highest.items() if name != headline.workload))
