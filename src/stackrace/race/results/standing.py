"""The result of a race: tiers, ratios with confidence limits, ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ...base.numbers import Interval
from ...base.verdict import Verdict
from ...measure.launch import Bottleneck, Failure
from ...measure.load import Load, Quantiles
from ...stats.values import MachineComparison, ScalingCurve
from .answer import Answer, AnswerKind, Condition, Lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Memory and CPU time of one stack's hops, without services. None where unknown."""

    stack: str
    """Path of the stack."""
    memory_bytes: float | None
    """The highest sum of PSS that was measured."""
    cpu_ms_per_request: float | None
    """The mean over all requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Needs of the stack that the answer names, against the next row and a cheaper equal.

    Neither memory nor CPU time has limits, so small differences say nothing.
    """

    first: Need
    """The stack that the answer names."""
    second: Need
    """The best row of another stack."""
    ratio: Interval | None = None
    """The throughput of ``first`` divided by that of ``second``, if proved better."""
    cheaper: Need | None = None
    """A stack of the first tier that needs clearly less, if there is one."""
    equal: bool = False
    """True if ``cheaper`` is proved as good as ``first``; otherwise the two only cannot be distinguished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """The CPU time of one stack, in ms per request."""

    stack: str
    """Path of the stack."""
    hops: Mapping[str, float]
    """CPU time by hop of the stack, the most expensive first."""
    services: Mapping[str, float] = field(default_factory=dict)
    """CPU time by service, such as PostgreSQL."""

    @property
    def total_ms(self) -> float:
        """CPU time of all hops, without services."""
        return sum(self.hops.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """CPU time as the reason why the second row is behind the first."""

    first: CpuTime
    """CPU time of the leader."""
    second: CpuTime | None = None
    """CPU time of the second row; None if there is only one."""
    not_cpu: bool = False
    """True if the second stack is proved slower, though its requests take no more CPU time."""
    hop: str = ""
    """The hop that only the second stack has, if it makes most of the difference; else empty."""


class StandingNotice:
    """Base of the notice that a document shows as ``current``. Subclasses are frozen dataclasses."""

    __slots__ = ()

    unshown: ClassVar[tuple[str, ...]] = ()
    """Fields left out of the document."""

    @property
    def is_news(self) -> bool:
        """True if it comes before the answer, and explains the errors of its stack."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One stack at one load level."""

    stack: str
    """Path of the stack."""
    tier: int | None
    """Tier, 1 the best; the stacks of later tiers have a ``ratio`` with limits below 1. No order is claimed within
    a tier. None for a stack that left the race and has no limits."""
    rank: tuple[int, int]
    """The first and the last place that the stack may have."""
    throughput_per_s: Interval
    """Right answers per second, scaled to the times when the leader was measured: two rows' rates divide like their
    ratios. The limits are those of this rate alone; reports show those of the ratio."""
    ratio: Interval
    """The stack's throughput divided by the leader's; 1 for the leader. The limits of all rows hold together with
    95 % confidence."""
    latency: Quantiles
    """Latency of all requests together."""
    errors: int
    """Requests answered wrongly or not at all."""
    requests: int
    """Requests with a known outcome, errors included."""
    cpu_ms_per_request: Mapping[str, float]
    """CPU time by hop."""
    memory_bytes: Mapping[str, int]
    """The peak PSS by hop."""
    launches: int
    """Valid launches."""
    slices: int
    """Valid slices."""
    p50_without_network_s: float | None = None
    """An estimate: the median latency less the round trip of the median answer, in seconds, at least 0. If most
    requests opened a connection, two round trips are subtracted. None if the load came from the same machine."""
    ready_s: float | None = None
    """Median seconds from a start to the first right answer; None if unknown."""
    bottleneck: Bottleneck | None = None
    """Place where the time of most slices goes; None if the figures do not decide."""
    latency_limits: Mapping[str, Interval | None] = field(default_factory=dict)
    """Quantiles in seconds with 95 % limits, by name (``p99``): None if too few requests lie above one; absent if
    not computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The rows of one workload at one load level, best tier first."""

    load: Load
    rows: tuple[Row, ...]
    """One row for each stack."""
    workload: str = ""
    """Name of the workload; empty if it is the only one."""

    @property
    def label(self) -> str:
        """Name of the level in tables: ``c=20``, or ``static, c=20`` if a race has several workloads."""
        return self.load.named(self.workload)

    @property
    def where(self) -> str:
        """The level within a heading: ``at c=20``, ``on static at c=20``."""
        return (f"on {self.workload} " if self.workload else "") + f"at {self.load.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """A stack without a place in the standing, and the reason."""

    stack: str
    """Path of the stack."""
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stack with a figure at other levels, and the reason why it has none at this one."""

    stack: str
    """Path of the stack."""
    load: Load
    workload: str = ""
    """Name of the workload; empty if the race has only one."""
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The result of a race as data; ``report.words`` makes the sentences."""

    answer: Answer = field(default_factory=lambda: Answer(kind=AnswerKind.NOTHING))
    headline: int = 0
    """Index in ``levels`` of the level that the answer is about."""
    levels: tuple[Level, ...] = ()
    """Each workload at each load level."""
    leads: tuple[Lead, ...] = ()
    """The leaders of each of ``levels``; empty if the race is void."""
    reason: Reason | None = None
    """CPU time of the first two rows."""
    costs: Costs | None = None
    """Needs of the winner, against other stacks."""
    conditions: tuple[Condition, ...] = ()
    """Conditions that would change the answer, the likeliest first."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Stacks without a place in the standing."""
    gaps: tuple[Gap, ...] = ()
    """Levels at which a stack of the standing has no figure."""
    warnings: Mapping[str, int] = field(default_factory=dict)
    """Warnings of each check, by its name."""
    resolution: float | None = None
    """The smallest difference in throughput that the headline level could show, 0.04 for 4 %; None if launches are
    too few for limits."""
    verdict: Verdict = field(default_factory=Verdict)
    """Result of the checks on the race as a whole. If invalid, the race is void and nothing in it counts."""
    scaling: tuple[ScalingCurve, ...] = ()
    """A curve for each stack and workload with two levels or more."""
    current: StandingNotice | None = None
    """The project's current stack against the stack that the answer names; None if the current stack is unknown."""
    machines: tuple[MachineComparison, ...] = ()
    """Each stack machine compared with the one that measured most; empty if there is only one. Machines with
    unequal ratios are left out of all results about stacks."""

    @property
    def settled(self) -> bool:
        """True if the question is answered."""
        return self.answer.settled

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the headline level; empty if nothing could be measured."""
        return self.levels[self.headline].rows if self.levels else ()

    @property
    def foremost(self) -> tuple[Level, ...]:
        """Levels to read first: the headline, then of each other workload the highest that has rivals."""
        if not self.levels:
            return ()
        headline = self.levels[self.headline]
        highest: dict[str, Level] = {}
        for level in self.levels:
            known = highest.get(level.workload)
            if len(level.rows) > 1 and (known is None or level.load.concurrency > known.load.concurrency):
                highest[level.workload] = level
        return (headline, *(level for name, level in highest.items() if name != headline.workload))
