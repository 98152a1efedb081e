"""The values of one response on two sides, and the estimate, with limits, of how much worse the head is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ...race.results.comparison import Response
from ...stats.limits import critical, exp
from ...stats.pairs import ROBUST_FROM, Array, trimmed, trimmed_from


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """m ± t_p·e: a trimmed mean (`pairs.trimmed`; plain below ten values), and its standard error.

    t_p is the upper quantile p of Student's t with the degrees of freedom of the values that trimming leaves.
    """

    value: float
    error: float
    """Standard error of ``value``; infinite for a single value."""
    values: int
    robust_from: int = ROBUST_FROM
    requests: int | None = None
    """For a share: number of the head's requests; else None. Even without errors, the upper limit allows for hidden
    ones.

    Source: the "rule of three", Hanley & Lippman-Hand 1983, If nothing goes wrong, is everything all right?, JAMA
    249.
    """

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        return self.value - self._reach(p, times)

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        unseen = 0.0 if self.requests is None else -math.log(chance) / (self.requests * times)
        return self.value + self._reach(p, times) + unseen

    def _reach(self, p: float, times: float) -> float:
        if not math.isfinite(self.error):
            return math.inf
        kept = trimmed_from(max(round(self.values * times), 2), self.robust_from)
        return critical(2, kept - 1, 2 * p) * self.error / math.sqrt(times)


def mean_of(values: Sequence[float] | Array, robust_from: int) -> Mean:
    """Return the mean of ``values``, at least one; it is trimmed if there are ``robust_from`` or more."""
    mean, variance = trimmed(np.asarray(values, dtype=float), robust_from)
    error = math.sqrt(float(variance) / len(values)) if len(values) > 1 else math.inf
    return Mean(value=float(mean), error=error, values=len(values), robust_from=robust_from)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values(Sample):
    """A response with one value for each launch: its differences are ln of the ratios, pair by pair."""

    base: Sequence[float]
    """Values of the base in the response's own unit, in the order of ``head``."""
    head: Sequence[float]

    def __len__(self) -> int:
        return len(self.base)

    def look(self, first: int, last: int) -> Look:
        base, head = self._logs(first, last)
        return mean_of(base - head if self.response is Response.THROUGHPUT else head - base, ROBUST_FROM)

    def sides(self, first: int, last: int) -> tuple[float, float]:
        base, head = (float(np.exp(logs.mean())) for logs in self._logs(first, last))
        return base, head

    def _logs(self, first: int, last: int) -> tuple[Array, Array]:
        return np.log(self.base[first:last]), np.log(self.head[first:last])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares(Values):
    """Shares of requests, such as errors; the differences are those of the shares themselves.

    The mean is not trimmed: a few pairs may have all errors, and trimming would remove exactly these.
    """

    requests: Sequence[int]
    """Number of the head's requests, pair by pair."""

    def look(self, first: int, last: int) -> Look:
        mean = mean_of(np.subtract(self.head[first:last], self.base[first:last]), last + 1)
        return replace(mean, requests=max(sum(self.requests[first:last]), 1))

    def sides(self, first: int, last: int) -> tuple[float, float]:
        return float(np.mean(self.base[first:last])), float(np.mean(self.head[first:last]))

    def difference(self, share: float) -> float:
        return share

    def share(self, difference: float) -> float:
        return difference
