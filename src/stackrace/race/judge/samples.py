"""The values of one response on two sides, and the estimate, with limits, of how much worse the head is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...stats.limits import exp
from ...stats.pairs import ROBUST_FROM
from ...stats.summary import geometric_mean, log_ratios, mean_of
from ..results.comparison import Response


class Look(Protocol):
    """Estimate and limits from some of a response's values, in the unit of its differences."""

    @property
    def value(self) -> float:
        """Estimate of how much worse the head is; negative if it is better."""

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the lower limit with the error probability ``p``; −∞ if the values allow no limit.

        ``chance`` is the error probability for the random behaviour of single requests. With ``times``, return the
        limit for so many times the data, if they stay as they are.
        """

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the upper limit, ∞ if the values allow no limit; see `low`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample(ABC):
    """The values of one response in order of time, from the blocks in which both sides have a value."""

    response: Response
    workload: str = ""
    blocks: tuple[int, ...] = ()
    """Numbers of these blocks."""
    answers: int | None = None
    """For a quantile: number of answers in all these blocks, of the side with fewer; else None."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of values."""

    @abstractmethod
    def look(self, first: int, last: int) -> Look:
        """Return the estimate from the values ``first`` to ``last`` (exclusive), at least one."""

    @abstractmethod
    def sides(self, first: int, last: int) -> tuple[float, float]:
        """Return the base's and the head's value over ``first`` to ``last``, in the response's own unit."""

    def pairs(self, values: int) -> int:
        """Return the number of pairs of launches that the first ``values`` values come from."""
        return values

    def pairs_for(self, values: int) -> int | None:
        """Return how many further pairs give ``values`` further values, at the pace so far; None if unknown."""
        return values if len(self) else None

    def difference(self, share: float) -> float:
        """Return the slowdown ``share``, 0.05 for 5 %, in the unit of the differences."""
        return -math.log1p(-min(share, 0.99)) if self.response is Response.THROUGHPUT else math.log1p(share)

    def share(self, difference: float) -> float:
        """Return ``difference`` as a slowdown, 0.05 for 5 %: the inverse of `difference`."""
        return 1 - exp(-difference) if self.response is Response.THROUGHPUT else exp(difference) - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values(Sample):
    """A response with one value for each launch: its differences are ln of the ratios, pair by pair."""

    base: Sequence[float]
    """Values of the base in the response's own unit, in the order of ``head``."""
    head: Sequence[float]

    def __len__(self) -> int:
        return len(self.base)

    def look(self, first: int, last: int) -> Look:
        base, head = self.base[first:last], self.head[first:last]
        these, those = (base, head) if self.response is Response.THROUGHPUT else (head, base)
        return mean_of(log_ratios(these, those), ROBUST_FROM)

    def sides(self, first: int, last: int) -> tuple[float, float]:
        return geometric_mean(self.base[first:last]), geometric_mean(self.head[first:last])
