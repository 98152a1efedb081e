"""How throughput grows with the connections: curves, and the law they follow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .interval import Interval

__all__ = ["ScalingCurve", "ScalingLaw", "Unfit", "UnfitKind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """The Universal Scalability Law as fitted: X(N) = λN/(1 + σ(N − 1) + κN(N − 1)) at N connections.

    ``single_per_s`` is λ, what one connection alone would reach; ``contention`` σ ≥ 0, the share that waits for
    what only one can use at a time; ``coherency`` κ ≥ 0, the cost of each two keeping one another informed. Each
    has 95 % limits, None with a single block. ``peak`` is N* = √((1 − σ)/κ), beyond which more connections make
    less throughput: None where the fitted curve never falls, its ``high`` infinite where that cannot be excluded,
    at least 1. ``residual`` is the standard deviation of the levels around the curve, 0.02 for 2 %.

    Source: Gunther 2007, Guerrilla Capacity Planning, chapter 5.
    """

    single_per_s: Interval
    contention: Interval
    coherency: Interval
    peak: Interval | None
    residual: float

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
    keep_alive: bool = True
