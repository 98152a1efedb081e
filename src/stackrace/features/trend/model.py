"""A project's races over time, as data: comparable figures joined to series, and where these changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...base.numbers import Interval
from ...race.results.comparison import Comparison


class Measure(StrEnum):
    """What is followed over time."""

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
        """Whether a higher value is the better one."""
        return self is Measure.THROUGHPUT


class Absence(StrEnum):
    """Why a race is in no series."""

    VOID = "void"
    NO_FIGURES = "no figures"
    """Nothing of it could be measured."""
    UNFINISHED = "unfinished"
    OTHER_APP = "other app"
    """Another app in the same folder."""
    TUNING = "tuning"
    """Its stacks are configurations that were tried once or twice."""
    TOO_OLD = "too old"
    """Earlier than the last that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesKey:
    """What all races of one series have in common, so that their figures may be compared."""

    stack: str
    """By path."""
    workload: str
    """What was requested, in words."""
    pages: str
    """A digest of all that was requested: equal words may leave something out."""
    load: str
    """The load level's label."""
    host: str
    """The machine and what a stack could use of it, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """What one race says of one stack at one level."""

    race: str
    """By id."""
    started_at: str
    """UTC in ISO 8601."""
    source: str = ""
    """The commit that was raced, short; empty where it is unknown."""
    values: Mapping[Measure, Interval] = field(default_factory=dict)
    """What was measured, with the race's own 95 % limits where it has any."""
    circumstances: Mapping[str, str] = field(default_factory=dict)
    """What may differ between races of one series, by name: versions, the kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendChange:
    """A change of one measure for good, between two races of a series."""

    measure: Measure
    """What changed."""
    at: int
    """The first point after it, by its place in the series."""
    ratio: Interval
    """The values after it over those before, with 95 % limits."""
    p: float
    """How often shuffled races show as large a change."""
    beside: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Circumstances that changed between the two races, before and after."""

    @property
    def is_worse(self) -> bool:
        """Whether the values after it are the worse ones."""
        return (self.ratio.value < 1) is self.measure.more_is_better


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendSeries:
    """Comparable races of one stack, in order of time."""

    key: SeriesKey
    points: tuple[TrendPoint, ...]
    """In order of time."""
    changes: tuple[TrendChange, ...] = ()
    """In order of time."""
    unlike: Mapping[Measure, Interval] = field(default_factory=dict)
    """Measures of which the last race lies outside what those before it foretold: its value over theirs, with the
    limits of that forecast. One race proves nothing; another one would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendCheck:
    """A check of the project: what it says of head against base holds by itself, whatever the day was like."""

    race: str
    """By id."""
    started_at: str
    """UTC in ISO 8601."""
    said: Comparison
    """What it said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A project's races over time."""

    project: str
    """As people call it."""
    races: int
    """How many of them are in series."""
    series: tuple[TrendSeries, ...] = ()
    """Those of the last race first."""
    needed: int = 0
    """How many comparable races it takes to prove a change; 0 without a series."""
    checks: tuple[TrendCheck, ...] = ()
    """In order of time."""
    left_out: Mapping[Absence, int] = field(default_factory=dict)
    """How many races are in no series, by the reason."""
