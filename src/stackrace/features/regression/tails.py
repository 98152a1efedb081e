"""A quantile of latency on two sides: the answers of several launches are pooled if one launch has too few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ...race.judge.samples import Sample
from ...race.results.comparison import Response
from ...stats.pairs import Array
from ...stats.summary import Buckets, Mean, mean_of, on_common_buckets, quantiles

_LEAST_BEYOND = 3
"""Answers beyond the quantile that each side has in a batch of launches: for p99, a batch has 300 answers."""


def least_answers(q: float) -> int:
    """Return the number of answers that each side needs in a batch, for the quantile ``q``, 0 < q < 1."""
    return math.ceil(_LEAST_BEYOND / (1 - q) - 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tails(Sample):
    """Pooled answers of two sides, batch by batch; a batch is one or more blocks in a row."""

    answers: int
    q: float
    seconds: Array
    """(V,): upper ends of the buckets of latency, ascending."""
    base: Array
    """(B, V): number of the base's answers of each batch in each bucket."""
    head: Array
    ends: tuple[int, ...]
    """Number of pairs of launches in the first 1, 2, … batches."""
    made: int
    """Number of all pairs of launches, with those that do not fill a batch yet."""

    def __len__(self) -> int:
        return len(self.ends)

    def pairs(self, values: int) -> int:
        return self.ends[values - 1] if values else 0

    def pairs_for(self, values: int) -> int | None:
        if not self.answers:
            return None
        return math.ceil(values * max(least_answers(self.q) * self.made / self.answers, 1.0))

    def look(self, first: int, last: int) -> _Pooled:
        """Return the estimate of ln(head's quantile/base's) from the batches ``first`` to ``last`` (exclusive)."""
        of_base, of_head = (
            quantiles(self.seconds, np.cumsum(side[first:last], axis=1), self.q) for side in (self.base, self.head)
        )
        base, head = (
            _Side(seconds=self.seconds, totals=np.cumsum(side[first:last].sum(axis=0)), q=self.q)
            for side in (self.base, self.head)
        )
        # nothing is trimmed: a few launches may have all the long answers, and these are searched for
        return _Pooled(base=base, head=head, batches=mean_of(np.log(of_head / of_base), last + 1))

    def sides(self, first: int, last: int) -> tuple[float, float]:
        look = self.look(first, last)
        return math.exp(look.base.at(self.q)), math.exp(look.head.at(self.q))


def tails(
    base: Sequence[Buckets],
    head: Sequence[Buckets],
    response: Response,
    workload: str = "",
    blocks: tuple[int, ...] = (),
) -> Tails:
    """Return the answers of two sides, given block by block, in batches with `least_answers` of each side.

    The last blocks are left out while they have too few answers for a batch. ``response`` must be a quantile.
    """
    q = response.quantile
    assert q is not None
    seconds, counts = on_common_buckets([*base, *head])
    sides = counts[: len(base)], counts[len(base) :]
    answered = np.array([side.sum(axis=1) for side in sides])
    ends, waiting = [], np.zeros(2)
    for block in range(len(base)):
        waiting += answered[:, block]
        if waiting.min() >= least_answers(q):
            ends.append(block + 1)
            waiting[:] = 0
    batched = [np.add.reduceat(side[: ends[-1]], [0, *ends[:-1]], axis=0) if ends else side[:0] for side in sides]
    return Tails(
        response=response, workload=workload, blocks=blocks, answers=int(answered.sum(axis=1).min()), q=q,
        seconds=seconds, base=batched[0], head=batched[1], ends=tuple(ends), made=len(base),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    seconds: Array
    totals: Array
    """(V,): number of answers in each bucket or below it."""
    q: float

    def at(self, q: float) -> float:
        """Return ln of the quantile ``q``; −∞ if q ≤ 0, ∞ if q ≥ 1."""
        if not 0 < q < 1:
            return math.copysign(math.inf, q - 0.5)
        wanted = math.ceil(q * self.totals[-1] - 1e-9)
        return math.log(self.seconds[np.searchsorted(self.totals, wanted)])

    def reach(self, chance: float, times: float) -> tuple[float, float]:
        """Return the distances of both limits from the quantile, lower first, at error probability ``chance``."""
        share = NormalDist().inv_cdf(1 - chance) * math.sqrt(self.q * (1 - self.q) / (self.totals[-1] * times))
        middle = self.at(self.q)
        return middle - self.at(self.q - share), self.at(self.q + share) - middle


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pooled:
    """ln of the ratio of two pooled quantiles, with the wider of two kinds of limits.

    The first kind covers the variation of launches: the mean of the batches' ln ratios has t limits
    (`Mean`, nothing trimmed). The second covers chance, since few answers lie beyond the quantile: of N
    answers the share below it is q ± z·√(q(1 − q)/N), and the quantiles at these two shares are the limits of
    one side; the limits of the ratio add the squares of both sides' distances (MOVER). If the distribution has
    a gap at the quantile, as for a page of which one request in a hundred waits, the limits lie at the two ends
    of the gap.

    Source: Woodruff 1952, Confidence intervals for medians and other position measures, JASA 47; Donner & Zou 2012,
    Closed-form confidence intervals for functions of the normal mean and standard deviation, Statistical Methods in
    Medical Research 21; batch means: Schmeiser 1982, Batch size effects in the analysis of simulation output,
    Operations Research 30.
    """

    base: _Side
    head: _Side
    batches: Mean

    @property
    def value(self) -> float:
        """ln of the ratio of the quantiles of all answers."""
        return self.head.at(self.head.q) - self.base.at(self.base.q)

    def low(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the lower limit; see `race.judge.samples.Look`."""
        below, above = self.head.reach(chance, times)[0], self.base.reach(chance, times)[1]
        return min(self.batches.low(p, chance, times), self.value - math.hypot(below, above))

    def high(self, p: float, chance: float, times: float = 1.0) -> float:
        """Return the upper limit."""
        above, below = self.head.reach(chance, times)[1], self.base.reach(chance, times)[0]
        return max(self.batches.high(p, chance, times), self.value + math.hypot(above, below))
