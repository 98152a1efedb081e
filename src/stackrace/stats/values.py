"""Results of the statistics, as types without numpy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..base.numbers import Interval


class Question(StrEnum):
    """Question that the race is to answer."""

    WINNER = "winner"
    """The question is the best stack, with those that cannot be distinguished from it."""
    RANKING = "ranking"
    """The question is the rank of every stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Change from the first block to the last, in ln units."""

    value: float
    low: float
    """Lower limit."""
    high: float
    """Upper limit."""


class MachineVerdict(StrEnum):
    """Verdict on the equality of two machines."""

    EQUAL = "equal"
    """The machines differ by nothing that matters."""
    UNEQUAL = "unequal"
    UNKNOWN = "unknown"
    """The data do not decide yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioShift:
    """Ratio of two stacks on one machine, divided by the same ratio on another."""

    first: str
    """Path of a stack."""
    second: str
    """Path of the stack that ``first`` is divided by."""
    shift: Interval
    """Factor: at 1.1, ``first`` ÷ ``second`` on the one machine is 1.1 times that on the other. Its limits hold for
    all pairs of stacks at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineComparison:
    """Comparison of a machine with the one that measured most, at the headline level."""

    machine: str
    """Name of the machine."""
    against: str
    """Name of the other machine, which measured most blocks."""
    ratio: Interval | None
    """Throughput of the same stacks on ``machine`` ÷ that on ``against``; None without common stacks."""
    speed: MachineVerdict
    """Verdict on equal speed. If speeds differ, the order of stacks still holds: each block is on one machine."""
    shift: RatioShift | None
    """Ratio of two stacks that most likely differs; None if none can be compared."""
    ratios: MachineVerdict
    """Verdict on equal ratios of stacks. If they differ, the blocks of ``machine`` are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """The Universal Scalability Law as fitted: X(N) = λN/(1 + σ(N − 1) + κN(N − 1)) at N connections.

    Limits are at 95 %, None with a single block. Source: Gunther 2007, Guerrilla Capacity Planning, chapter 5.
    """

    single_per_s: Interval
    """λ: throughput of one connection alone, in answers per second."""
    contention: Interval
    """σ ≥ 0: share that waits for what only one can use at a time."""
    coherency: Interval
    """κ ≥ 0: cost of keeping each pair informed of one another."""
    peak: Interval | None
    """N* = √((1 − σ)/κ) ≥ 1: connections beyond which throughput falls. None if the curve never falls; its ``high``
    is infinite if that cannot be excluded."""
    residual: float
    """Standard deviation of the levels around the curve, 0.02 for 2 %."""

    def at(self, connections: float) -> float:
        """Return the fitted throughput in answers per second at ``connections`` ≥ 1."""
        more, sigma, kappa = connections - 1, self.contention.value, self.coherency.value
        return self.single_per_s.value * connections / (1 + sigma * more + kappa * connections * more)


class UnfitKind(StrEnum):
    """Reason why the law was not fitted."""

    FEW_LEVELS = "too few levels"
    DIVERGED = "no convergence"
    OFF_THE_CURVE = "off the curve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Reason why the law was not fitted, with figures."""

    kind: UnfitKind
    """Kind of the reason."""
    levels: int
    """Number of different levels with results."""
    levels_needed: int
    """Least number of levels for a fit."""
    residual: float | None = None
    """Deviation of the levels from the best curve, 0.09 for 9 %; None if there is no curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingCurve:
    """Growth of one stack's throughput with the connections of one workload."""

    stack: str
    """Path of the stack."""
    levels: tuple[int, ...]
    """Measured levels in connections, ascending."""
    knee: int | None
    """Smallest level that is not significantly below the best; None without limits."""
    law: ScalingLaw | None = None
    """Fitted law; None if it was not fitted: ``unfit`` then gives the reason."""
    unfit: Unfit | None = None
    workload: str = ""
    """Name of the workload; empty if it is the only one."""
    keep_alive: bool = True
    """True if the connections carry more than one request."""
