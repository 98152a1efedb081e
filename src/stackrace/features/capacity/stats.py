"""The highest rate that keeps a goal: bisection over an open loop's rates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...stats.summary import BEYOND

__all__ = ["HIGH", "LOW", "RESOLUTION", "Search", "requests_for"]

LOW, HIGH = 0.3, 1.05
"""Where to look, relative to what a closed loop reached."""

RESOLUTION = 0.02
"""The search is over when the lowest rate that missed the goal is so little above the highest that kept it."""


@dataclass(frozen=True, slots=True)
class Search:
    """Between which rates the capacity lies, after every trial made so far.

    The next rate halves ln(rate) between the highest rate that kept the goal and the lowest that missed it, since
    what matters of a capacity is its relative error. An end is only tried where all trials lie on one side of it.
    Raises ValueError unless 0 < low < high and the resolution is above 0.

    Source: bisection of ln λ, as of any monotone function: Burden & Faires, Numerical Analysis, section 2.1.
    """

    low: float
    """The lowest rate to try, > 0 per second."""
    high: float
    """The highest rate to try, per second."""
    resolution: float = RESOLUTION
    """The relative error at which the search ends, 0.05 for 5 %."""
    kept: frozenset[float] = field(default_factory=frozenset)
    """Rates that kept the goal."""
    missed: frozenset[float] = field(default_factory=frozenset)
    """Rates that did not."""

    def __post_init__(self) -> None:
        """See above."""
        if not (0 < self.low < self.high < math.inf and self.resolution > 0):
            raise ValueError(f"no search from {self.low} to {self.high} by {self.resolution}")

    @property
    def capacity(self) -> float | None:
        """The highest rate that kept the goal; None while none did."""
        return max(self.kept, default=None)

    @property
    def above(self) -> float | None:
        """The lowest rate that missed it; None while none did."""
        return min(self.missed, default=None)

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None when the capacity is known well enough, or lies outside of low and high."""
        low, high = self.capacity or self.low, self.above or self.high
        if low >= high:
            return None
        if high / low > 1 + self.resolution:
            return math.sqrt(low * high)
        if self.capacity is None:
            return self.low
        return self.high if self.above is None else None

    @property
    def most_trials(self) -> int:
        """How many more trials there may be at most: the halvings that are left, and one of an end."""
        width = math.log((self.above or self.high) / (self.capacity or self.low))
        halvings = max(math.ceil(math.log2(width / math.log1p(self.resolution))), 0) if width > 0 else 0
        return halvings + int(self.next_rate is not None and (not self.kept or not self.missed))

    def tried(self, rate: float, *, kept: bool) -> Search:
        """Return the search after a trial at ``rate``."""
        mine = {rate}
        return Search(
            self.low,
            self.high,
            self.resolution,
            self.kept | mine if kept else self.kept,
            self.missed if kept else self.missed | mine,
        )


def requests_for(quantiles: Iterable[float]) -> int:
    """Return how many requests a trial takes to tell all ``quantiles`` (each in [0, 1)) by itself.

    N(1 − q) ≥ 50 of the highest one: see `stats.percentiles`.
    """
    return math.ceil(BEYOND / (1 - max(quantiles)) - 1e-9)
