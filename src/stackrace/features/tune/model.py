"""Tuning: what was looked for among which configurations, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningLimits:
    """What a configuration may use beside its cores, which are the race's."""

    memory_bytes: int | None = None
    """Of all the stack's processes together, under load."""
    connections: int | None = None
    """To databases, under load."""

    def exceeded(self, needs: Needs | None) -> tuple[Exceeded, ...]:
        """Return what of ``needs`` is more than allowed, the one that is exceeded most first."""
        if needs is None:
            return ()
        uses = (
            (Unfit.MEMORY, needs.memory_bytes, self.memory_bytes),
            (Unfit.CONNECTIONS, needs.connections or 0, self.connections),
        )
        found = [
            Exceeded(kind=kind, used=used, limit=limit)
            for kind, used, limit in uses
            if limit is not None and used > limit
        ]
        return tuple(sorted(found, key=lambda one: -one.times))


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


OF_NEEDS = frozenset({Unfit.MEMORY, Unfit.CONNECTIONS})
"""Those that a limit makes, by what a configuration uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """A limit, and what a configuration uses of it."""

    kind: Unfit
    """One of ``OF_NEEDS``."""
    used: int
    """Bytes or connections."""
    limit: int
    """In the same unit."""

    @property
    def times(self) -> float:
        """How many times the limit is used."""
        return self.used / self.limit


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
    settings: Mapping[str, tuple[str | None, ...]]
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
    """Whether there are too many to race all, so that a sampler proposes."""
    reserve: tuple[str, ...] = ()
    """The configurations beyond the values of a knob: they race only where the best lies at that end."""
    cut: int = 0
    """How many others were left out, since the budget does not answer for so many."""
    whole_s: float | None = None
    """About how long a search among those, too, would take; None where none was left out."""


def is_tuning(race: Race) -> bool:
    """Tell whether ``race`` tunes a stack."""
    return race.parts.get(Tuning) is not None


def tuning_of(race: Race) -> Tuning:
    """Return what ``race``, which tunes a stack, keeps of it."""
    part = race.parts.get(Tuning)
    assert part is not None
    return part
