"""The result of a race: tiers, ratios with confidence limits, ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .launch import Failure
from .load import Load, Quantiles
from .verdict import Verdict

__all__ = ["Interval", "Level", "Row", "Standing", "Withdrawal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its limits; ``low`` and ``high`` are None while too few launches allow any."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One stack at one load level.

    ``tier`` 1 is the best; stacks that cannot be told apart may share one. ``rank`` is the set of places the
    stack may hold. ``ratio`` compares its throughput with the leader's (1 for the leader itself).
    ``cpu_ms_per_request`` and ``memory_bytes`` (peak PSS) are keyed by hop; ``launches`` counts valid replicates.
    """

    stack: str
    tier: int
    rank: tuple[int, int]
    throughput_per_s: Interval
    ratio: Interval
    latency: Quantiles
    errors: int
    requests: int
    cpu_ms_per_request: Mapping[str, float]
    memory_bytes: Mapping[str, int]
    launches: int
    slices: int
    ready_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The rows of one workload at one load level, best tier first."""

    load: Load
    rows: tuple[Row, ...]
    workload: str = ""

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
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All levels of a race; ``headline`` is the one the answer speaks of.

    ``answer`` is one sentence: the winner with its margin, or that nobody can be told apart, or why not.
    ``reason`` is one sentence on where the time goes. ``settled`` tells whether the question is answered.
    ``resolution`` is the smallest difference in throughput the headline level could show, 0.04 for 4 %; None
    while too few launches allow any limits. ``verdict`` is what the checks say about the race as a whole; where it
    is invalid the race is void, and nothing of the standing may be believed.
    """

    answer: str
    reason: str
    settled: bool
    headline: int
    levels: tuple[Level, ...]
    withdrawals: tuple[Withdrawal, ...] = ()
    warnings: Mapping[str, int] = field(default_factory=dict)
    resolution: float | None = None
    verdict: Verdict = field(default_factory=Verdict)

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
