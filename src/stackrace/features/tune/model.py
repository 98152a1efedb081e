"""Data of a tuning: its goal, limits and configurations, and the part that is stored with a race."""

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
    """Quantity that a tuning optimizes."""

    THROUGHPUT = "throughput"
    """The most right answers per second, in a closed loop."""
    LATENCY = "latency"
    """The lowest quantile of latency at a rate."""
    MEMORY = "memory"
    """The least memory that delivers a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningGoal:
    """Quantity to optimize, and the load."""

    kind: GoalKind = GoalKind.THROUGHPUT
    rate_per_s: float | None = None
    """Requests due per second; None for throughput."""
    quantile: str = "p99"
    """Quantile of latency: p50, p90, p99 or p999."""

    @property
    def title(self) -> str:
        """Name of the quantity, for a heading."""
        if self.kind is GoalKind.THROUGHPUT:
            return "requests/s"
        return "memory" if self.kind is GoalKind.MEMORY else label(self.quantile)

    def figure(self, value: float) -> str:
        """Return ``value``, given in the goal's own unit, as text; the text has no unit for requests per second."""
        if self.kind is GoalKind.THROUGHPUT:
            return number(value)
        return SIZE.format(value) if self.kind is GoalKind.MEMORY else DURATION.format(value)

    def in_unit(self, value: float) -> float:
        """Return ``value``, exp of a response or a ratio of two (larger is better), in the goal's own unit."""
        return value if self.kind is GoalKind.THROUGHPUT else 1 / value

    def interval(self, found: Interval) -> Interval:
        """Return ``found`` and its limits converted as by `in_unit`."""
        if self.kind is GoalKind.THROUGHPUT:
            return found
        low, high = (None if end is None else self.in_unit(end) for end in (found.high, found.low))
        return Interval(value=self.in_unit(found.value), low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningLimits:
    """Limits of a configuration beside its cores, which are the race's."""

    memory_bytes: int | None = None
    """The most memory of all the stack's processes together, under load."""
    connections: int | None = None
    """The most connections to databases, under load."""


_APART = 2.0
"""Steps between neighbouring values that are not numbers: they tell little about each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One tuned setting."""

    hop: int
    """Number of the hop in the stack, from 0."""
    server: str
    name: str
    values: tuple[str, ...]
    """Values as in paths, in the order of their steps."""
    numeric: bool
    """True if the values are numbers, so that values between two of them lie between their steps."""
    below: tuple[str, ...] = ()
    """Smaller numbers, ascending, tried if the smallest of ``values`` is the best."""
    above: tuple[str, ...] = ()
    """Larger numbers, ascending, tried if the largest of ``values`` is the best."""
    least: int | None = None
    """The smallest number that the server accepts."""
    most: int | None = None
    """The largest number that the server accepts."""

    @property
    def ladder(self) -> tuple[str, ...]:
        """All values that may be tried, in the order of their steps."""
        return (*self.below, *self.values, *self.above)

    @property
    def steps(self) -> tuple[float, ...]:
        """Steps of the ladder's values on the grid."""
        return tuple(i * (1.0 if self.numeric else _APART) for i in range(len(self.ladder)))

    def step(self, value: str | None) -> float:
        """Return the position of ``value`` in steps; a number between two values lies between their steps.

        −1 for None (the knob has no effect) and for smaller numbers; one step after the last for larger numbers;
        NaN for any other value.
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
        """Return the name as in ``--vary``: ``gunicorn.workers``."""
        return f"{self.server}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Memory and connections of a configuration under load."""

    memory_bytes: int
    connections: int | None = None
    """Established connections to databases, None if they could not be counted."""


class Unfit(StrEnum):
    """Reason why a configuration is no candidate."""

    MEMORY = "memory"
    CONNECTIONS = "connections"
    RATE = "rate"
    """The configuration does not deliver the rate of the goal."""
    FAILED = "failed"
    """The configuration did not start, or gave no valid measurement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """A configuration beyond a limit."""

    stack: str
    kind: Unfit
    """The limit that is exceeded most."""
    needs: Needs | None = None
    measured: bool = False
    """True if it was launched; otherwise its needs were computed from launched configurations."""


class Reference(StrEnum):
    """Reference that the tuned stack is compared with."""

    DEFAULT = "default"
    """The stack as it was given, before tuning."""
    FORMULA = "formula"
    """The stack with the value that the server's documentation advises."""
    CURRENT = "current"
    """The project's current stack."""


Values = tuple[str | None, ...]
"""A configuration's value of each knob, None if the knob has no effect there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning(RacePart):
    """A race's tuning, stored with the race for resuming and reports."""

    name: ClassVar[str] = "tuning"

    stack: str
    """Path as the user gave it."""
    goal: TuningGoal
    limits: TuningLimits
    knobs: tuple[Knob, ...]
    settings: Mapping[str, Values]
    """Value of each knob by path of each configuration, None if the knob has no effect there. References that
    differ in anything else are absent."""
    references: Mapping[Reference, str]
    """Paths of the references."""
    formula: str = ""
    """Formula as in the documentation: ``workers = 2n + 1``; empty if there is none."""
    formula_source: str = ""
    infeasible: tuple[Infeasible, ...] = ()
    """Configurations beyond a limit, before the race."""
    piloted: Mapping[str, Needs] = field(default_factory=dict)
    """Measured needs of some configurations, from which those of all follow."""
    reserve: tuple[str, ...] = ()
    """Configurations beyond a knob's usual values: they race only if the best lies at that end."""
    cut: int = 0
    """Number of configurations left out, since there are too many, or too many for the budget."""
    whole_s: float | None = None
    """Approximate time of a whole search; None if the budget is long enough for one."""


def tuning_of(race: Race) -> Tuning:
    """Return the tuning of ``race``."""
    part = race.parts.get(Tuning)
    assert part is not None
    return part
