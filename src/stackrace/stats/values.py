"""What the statistics answer, as types that know no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..base.numbers import Interval


class Question(StrEnum):
    """What the race is to find out."""

    WINNER = "winner"
    """Which stack is the best, or which cannot be told from the best."""
    RANKING = "ranking"
    """Where every stack stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The change from the first block to the last, in ln units."""

    value: float
    low: float
    """The lower limit."""
    high: float
    """The upper limit."""


class MachineVerdict(StrEnum):
    """Whether two machines are equal in something."""

    EQUAL = "equal"
    """They differ by nothing that matters."""
    UNEQUAL = "unequal"
    UNKNOWN = "unknown"
    """It cannot be told yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioShift:
    """A ratio of two stacks on one machine, over the same ratio on another."""

    first: str
    """A stack, by path."""
    second: str
    """The stack that it is divided by, by path."""
    shift: Interval
    """1.1: on the one machine ``first`` ÷ ``second`` is 1.1 times what it is on the other. Its limits hold for all
    pairs of stacks at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineComparison:
    """A machine beside the one that measured most, at the headline level."""

    machine: str
    """The name of the one."""
    against: str
    """The name of the other, which measured most blocks."""
    ratio: Interval | None
    """The throughput of the same stacks on ``machine`` ÷ that on ``against``; None where there are none."""
    speed: MachineVerdict
    """Whether they are equally fast. Where they are not, the order of stacks suffers nothing: each block lies
    within one machine."""
    shift: RatioShift | None
    """The ratio of two stacks that most likely differs; None where none can be compared."""
    ratios: MachineVerdict
    """Whether the ratios of stacks are equal. Where they are not, the blocks of ``machine`` are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """The Universal Scalability Law as fitted: X(N) = λN/(1 + σ(N − 1) + κN(N − 1)) at N connections.

    Limits are at 95 %, None with a single block. Source: Gunther 2007, Guerrilla Capacity Planning, chapter 5.
    """

    single_per_s: Interval
    """λ: what one connection alone would reach, in answers per second."""
    contention: Interval
    """σ ≥ 0: the share that waits for what only one can use at a time."""
    coherency: Interval
    """κ ≥ 0: the cost of each two keeping one another informed."""
    peak: Interval | None
    """N* = √((1 − σ)/κ) ≥ 1: the connections beyond which throughput falls. None where the curve never falls; its
    ``high`` is infinite where that cannot be excluded."""
    residual: float
    """The standard deviation of the levels around the curve, 0.02 for 2 %."""

    def at(self, connections: float) -> float:
        """Return the fitted throughput in answers per second at ``connections`` ≥ 1."""
        more, sigma, kappa = connections - 1, self.contention.value, self.coherency.value
        return self.single_per_s.value * connections / (1 + sigma * more + kappa * connections * more)


class UnfitKind(StrEnum):
    """Why the law was not fitted."""

    FEW_LEVELS = "too few levels"
    DIVERGED = "no convergence"
    OFF_THE_CURVE = "off the curve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Why the law was not fitted, in numbers."""

    kind: UnfitKind
    """What was in the way."""
    levels: int
    """How many different levels have results."""
    levels_needed: int
    """How many it takes at least."""
    residual: float | None = None
    """How far the levels are off the best curve, 0.09 for 9 %; None where there is no curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingCurve:
    """How one stack's throughput grows with the connections of one workload."""

    stack: str
    """By path."""
    levels: tuple[int, ...]
    """Those that were measured, in connections, ascending."""
    knee: int | None
    """The smallest level that is not significantly below the best, None while there are no limits."""
    law: ScalingLaw | None = None
    """None where it was not fitted; ``unfit`` then says why."""
    unfit: Unfit | None = None
    workload: str = ""
    """By name; empty where it is the only one."""
    keep_alive: bool = True
    """Whether its connections carry more than one request."""
