"""Tuning: what is looked for among which configurations, and what is kept of that with a race."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from ...base.numbers import Interval, number
from ...base.units import DURATION, SIZE
from ...measure.engine.load_run import label
from ...race.results.parts import RacePart

if TYPE_CHECKING:
    from ...race.results.race import Race


class GoalKind(StrEnum):
    """What is made the best of."""

    THROUGHPUT = "throughput"
    """As many right answers per second as possible, in a closed loop."""
    LATENCY = "latency"
    """As short a quantile of latency as possible, at a rate."""
    MEMORY = "memory"
    """As little memory as possible that delivers a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningGoal:
    """What is made the best of, and under which load."""

    kind: GoalKind = GoalKind.THROUGHPUT
    rate_per_s: float | None = None
    """Requests due per second; None for throughput."""
    quantile: str = "p99"
    """Of latency: p50, p90, p99 or p999."""

    @property
    def title(self) -> str:
        """What is measured, for a heading."""
        if self.kind is GoalKind.THROUGHPUT:
            return "requests/s"
        return "memory" if self.kind is GoalKind.MEMORY else label(self.quantile)

    def figure(self, value: float) -> str:
        """Return a value in the goal's own unit, which is named unless it is requests per second."""
        if self.kind is GoalKind.THROUGHPUT:
            return number(value)
        return SIZE.format(value) if self.kind is GoalKind.MEMORY else DURATION.format(value)

    def in_unit(self, value: float) -> float:
        """Return exp of a response, of which more is better, or a ratio of two, as requests/s, seconds or bytes."""
        return value if self.kind is GoalKind.THROUGHPUT else 1 / value

    def interval(self, found: Interval) -> Interval:
        """Return ``found`` with its limits as `in_unit` does."""
        if self.kind is GoalKind.THROUGHPUT:
            return found
        low, high = (None if end is None else self.in_unit(end) for end in (found.high, found.low))
        return Interval(value=self.in_unit(found.value), low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningLimits:
    """What a configuration may use beside its cores, which are the race's."""

    memory_bytes: int | None = None
    """Of all the stack's processes together, under load."""
    connections: int | None = None
    """To databases, under load."""


_APART = 2.0
"""Values that are no numbers lie so many steps apart: the next is not like the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One setting that is tuned."""

    hop: int
    """The hop's number in the stack, from 0."""
    server: str
    name: str
    values: tuple[str, ...]
    """As paths write them, in the order of their steps."""
    numeric: bool
    """Whether they are numbers, so that what lies between two of them lies between their steps."""
    below: tuple[str, ...] = ()
    """Smaller numbers, ascending, tried where the smallest of ``values`` is the best."""
    above: tuple[str, ...] = ()
    """Larger ones, tried where the largest is."""
    least: int | None = None
    """The smallest number that the server takes."""
    most: int | None = None
    """The largest."""

    @property
    def ladder(self) -> tuple[str, ...]:
        """All values that may be tried, in the order of their steps."""
        return (*self.below, *self.values, *self.above)

    @property
    def steps(self) -> tuple[float, ...]:
        """Where the values of the ladder lie on the grid."""
        return tuple(i * (1.0 if self.numeric else _APART) for i in range(len(self.ladder)))

    def step(self, value: str | None) -> float:
        """Return the step of ``value``: before the first where the knob means nothing, or between two.

        NaN for what is neither.
        """
        if value is None:
            return -1.0
        if value in self.ladder:
            return self.steps[self.ladder.index(value)]
        if not self.numeric or not value.isdecimal() or int(value) < 1:
            return math.nan
        logs, at = [math.log(int(one)) for one in self.ladder], math.log(int(value))
        for step, (low, high) in enumerate(pairwise(logs)):
            if low <= at <= high:
                return step + (at - low) / (high - low)
        return float(len(logs)) if at > logs[-1] else -1.0

    def __str__(self) -> str:
        """Return the name as ``--vary`` reads it: ``gunicorn.workers``."""
        return f"{self.server}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a configuration uses under load."""

    memory_bytes: int
    connections: int | None = None
    """Established connections to databases, None where nobody could look."""


class Unfit(StrEnum):
    """Why a configuration is no candidate."""

    MEMORY = "memory"
    CONNECTIONS = "connections"
    RATE = "rate"
    """It does not deliver the rate of the goal."""
    FAILED = "failed"
    """It did not start, or gave nothing that can be believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """A configuration beyond a limit."""

    stack: str
    kind: Unfit
    """Of several limits the one that is exceeded most."""
    needs: Needs | None = None
    measured: bool = False
    """Whether it was launched; otherwise what it needs was computed from those that were."""


class Reference(StrEnum):
    """With what the tuned stack is compared."""

    DEFAULT = "default"
    """The stack as it was given."""
    FORMULA = "formula"
    """What the server's documentation advises."""
    CURRENT = "current"
    """What the project is deployed with today."""


Values = tuple[str | None, ...]
"""A configuration's value of each knob, None where the knob means nothing there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(RacePart):
    """What a race tunes: kept with it, so that it can go on and be reported."""

    name: ClassVar[str] = "tuning"
    opens_singly: ClassVar[bool] = False

    stack: str
    """The path that was given."""
    goal: TuningGoal
    limits: TuningLimits
    knobs: tuple[Knob, ...]
    settings: Mapping[str, Values]
    """By path of each configuration the value of each knob, None where it means nothing there. A reference that
    differs in anything else is not among them."""
    references: Mapping[Reference, str]
    """By their paths."""
    formula: str = ""
    """What the documentation advises, as it writes it: ``workers = 2n + 1``; empty where it advises nothing."""
    formula_source: str = ""
    infeasible: tuple[Infeasible, ...] = ()
    """Those beyond a limit, before any was raced."""
    piloted: Mapping[str, Needs] = field(default_factory=dict)
    """What was measured of some to know what all need."""
    proposes: bool = False
    """Whether there are too many to race all, so that what was measured says which are tried."""
    reserve: tuple[str, ...] = ()
    """The configurations beyond the values of a knob: they race only where the best lies at that end."""
    cut: int = 0
    """How many others were left out, since the budget does not answer for so many."""
    whole_s: float | None = None
    """About how long a search among those, too, would take; None where none was left out."""


def tuning_of(race: Race) -> Tuning:
    """Return what ``race``, which tunes a stack, keeps of it."""
    part = race.parts.get(Tuning)
    assert part is not None
    return part
