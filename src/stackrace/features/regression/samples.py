"""The values of one response on two sides, and by how much the head is worse with what limits."""

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
    """What some of a response's values say, all in the unit of its differences."""

    @property
    def value(self) -> float:
        """The estimate of how much worse the head is."""

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the lower limit, which ``p`` of samples exceed where they vary as these do; −∞ without any.

        ``chance`` is for what single requests may do by chance. ``times``: if there were so many times the data,
        and they stayed as they are.
        """

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the upper limit; the same."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample(ABC):
    """The values of one response, in order of time, over the blocks in which both sides have one."""

    response: Response
    workload: str = ""
    blocks: tuple[int, ...] = ()
    """Their numbers."""
    answers: int | None = None
    """For a quantile: answers of the side with fewer, of all these blocks."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of values."""

    @abstractmethod
    def look(self, first: int, last: int) -> Look:
        """Return what values ``first`` to ``last`` (exclusive, at least one more) say."""

    @abstractmethod
    def sides(self, first: int, last: int) -> tuple[float, float]:
        """Return base and head over these values, in the response's own unit."""

    def pairs(self, values: int) -> int:
        """Return of how many pairs of launches the first ``values`` are."""
        return values

    def pairs_for(self, values: int) -> int | None:
        """Return how many more pairs so many more values take, at the pace so far; None where that is unknown."""
        return values if len(self) else None

    def difference(self, share: float) -> float:
        """Return ``share`` of worse in the unit of the differences; a throughput is worse by as much lower."""
        return -math.log1p(-min(share, 0.99)) if self.response is Response.THROUGHPUT else math.log1p(share)

    def share(self, difference: float) -> float:
        """Undo ``difference``."""
        return 1 - exp(-difference) if self.response is Response.THROUGHPUT else exp(difference) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """m ± t_p·e: a trimmed mean (`pairs.trimmed`; plain below ten values), and its standard error.

    t_p is the upper quantile p of Student's t with the degrees of freedom of the values that are left.
    """

    value: float
    error: float
    """Standard error of ``value``; infinite for a single value."""
    values: int
    robust_from: int = ROBUST_FROM
    requests: int | None = None
    """For a share: the requests it counts in. Without an error the upper limit says how many may be hidden.

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
    """Return the mean of at least one value, trimmed from ``robust_from`` on."""
    mean, variance = trimmed(np.asarray(values, dtype=float), robust_from)
    error = math.sqrt(float(variance) / len(values)) if len(values) > 1 else math.inf
    return Mean(value=float(mean), error=error, values=len(values), robust_from=robust_from)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Values(Sample):
    """A response of which every launch has a value: its differences are ln of the ratios, pair by pair."""

    base: Sequence[float]
    """In the response's own unit."""
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
    """Shares of requests, which few pairs may have all of; the differences are of the shares themselves.

    The mean is plain, for what trimming takes off is what is looked for.
    """

    requests: Sequence[int]
    """What the head's share is one of, pair by pair."""

    def look(self, first: int, last: int) -> Look:
        mean = mean_of(np.subtract(self.head[first:last], self.base[first:last]), last + 1)
        return replace(mean, requests=max(sum(self.requests[first:last]), 1))

    def sides(self, first: int, last: int) -> tuple[float, float]:
        return float(np.mean(self.base[first:last])), float(np.mean(self.head[first:last]))

    def difference(self, share: float) -> float:
        return share

    def share(self, difference: float) -> float:
        return difference
