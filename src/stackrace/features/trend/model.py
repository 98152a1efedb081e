"""A project's races over time, as data: comparable figures joined to series, and their changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...base.numbers import Interval
from ...race.results.comparison import Comparison


class Measure(StrEnum):
    """Quantity that is followed over time."""

    THROUGHPUT = "throughput"
    """Right answers per second."""
    P99 = "p99"
    """Seconds."""
    CPU = "CPU time per request"
    """Milliseconds, all hops together."""
    MEMORY = "memory"
    """Bytes at the peak, all hops together."""

    @property
    def more_is_better(self) -> bool:
        """True if a higher value is better."""
        return self is Measure.THROUGHPUT


class Absence(StrEnum):
    """Reason why a race is in no series."""

    VOID = "void"
    NO_FIGURES = "no figures"
    """Nothing could be measured."""
    UNFINISHED = "unfinished"
    OTHER_APP = "other app"
    """Another app in the same folder."""
    TUNING = "tuning"
    """Race of a tuning, whose stacks are configurations that were tried once or twice."""
    TOO_OLD = "too old"
    """Earlier than the last races that are examined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesKey:
    """Common facts of all races of one series, so that their figures may be compared."""

    stack: str
    """Path of the stack."""
    workload: str
    """The requested pages in words."""
    pages: str
    """Digest of all requested URLs: the words may leave some out."""
    load: str
    """Label of the load level."""
    host: str
    """The machine and a stack's share of it, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """Figures of one race for one stack at one level."""

    race: str
    """Id of the race."""
    started_at: str
    """UTC in ISO 8601."""
    source: str = ""
    """The raced commit, short; empty if unknown."""
    values: Mapping[Measure, Interval] = field(default_factory=dict)
    """Measured values, with the race's own 95 % limits if it has any."""
    circumstances: Mapping[str, str] = field(default_factory=dict)
    """Facts that may differ between races of one series, by name: versions, the kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChange:
    """A lasting change of one measure between two races of a series."""

    measure: Measure
    """The measure that changed."""
    at: int
    """Index among the points of the first one after it."""
    ratio: Interval
    """Ratio of the values after it to those before, with 95 % limits."""
    p: float
    """Share of shuffled races with a change as large."""
    changed_too: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Circumstances that changed between the two races, before and after."""

    @property
    def is_worse(self) -> bool:
        """True if the values after it are worse."""
        return (self.ratio.value < 1) is self.measure.more_is_better


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendSeries:
    """Comparable races of one stack, in order of time."""

    key: SeriesKey
    points: tuple[TrendPoint, ...]
    """Points in order of time."""
    changes: tuple[TrendChange, ...] = ()
    """Changes in order of time."""
    unlike: Mapping[Measure, Interval] = field(default_factory=dict)
    """Measures of which the last race lies outside the prediction of those before it: its ratio to their mean, with
    the limits of the prediction. One race proves nothing; another one would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendCheck:
    """A check of the project: its result for head against base holds whatever other races of the day say."""

    race: str
    """Id of the race."""
    started_at: str
    """UTC in ISO 8601."""
    said: Comparison
    """The result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A project's races over time."""

    project: str
    """Name of the project."""
    races: int
    """Number of races in series."""
    series: tuple[TrendSeries, ...] = ()
    """Series, those of the last race first."""
    needed: int = 0
    """Number of comparable races needed to prove a change; 0 without a series."""
    checks: tuple[TrendCheck, ...] = ()
    """Checks in order of time."""
    left_out: Mapping[Absence, int] = field(default_factory=dict)
    """Number of races in no series, by reason."""
