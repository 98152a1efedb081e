"""Search for a server's capacity: its value after some trials, and the rate to try next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...base.numbers import Interval
from .estimate import crossing

LOW, HIGH = 0.3, 1.05
"""Lowest and highest rate to try first, relative to the throughput of a closed loop."""
_FARTHEST = 64.0
"""Factor beyond these ends up to which rates are doubled or halved."""
_CLOSE, _NARROW = 1.2, 1.05
"""Ratios of the lowest rate that missed the goal to the highest that kept it. Up to the first ratio, trials count
as refinements and are longer; up to the second, their rates are estimates of the capacity."""
_REFINEMENTS = 6
_ASIDE = 0.02
"""Distance of the last trials from the estimate, as a share: they are made in turn below and above it."""
_NEAR = 1.12
"""The estimate uses the trials within this factor of the bracket's middle, or within the bracket if it is wider."""
_OUTSIDE = 1.03
"""Factor by which an estimate may lie outside of the bracket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A rate that was tried, and its result."""

    rate_per_s: float
    kept: bool
    slow: Mapping[str, float]
    """Share of requests above each limit, 0 to 1, by its name in `measure.engine.histogram.QUANTILES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """State of a search for the capacity, after the trials made so far.

    The bracket is the range from the highest rate that kept the goal to the lowest that missed it. Each trial
    halves it in ln(rate); outside of ``low`` and ``high``, rates are doubled or halved. By chance, results may
    contradict each other, so the bracket follows from shares of slow requests that were made monotone. Once it is
    narrow, the next rate is the one at which a curve through the trials near it reaches the allowed share.

    Source: Burden & Faires, Numerical Analysis, section 2.1; Ayer et al., Annals of Mathematical Statistics 26
    (1955), on pooling adjacent violators; C. F. J. Wu, JASA 80 (1985), on a quantile by trials at its estimate.
    """

    low: float
    """The lowest rate to try first, > 0 per second."""
    high: float
    """The highest rate to try first, per second."""
    allowed: Mapping[str, float]
    """Share of requests that may take longer than each limit, in (0, 1), by the limit's name."""
    most: float = math.inf
    """The rate that the server cannot exceed, as a closed loop has shown; per second."""
    tried: tuple[Tried, ...] = ()
    refined: int = 0
    """Number of trials made at an estimate."""

    @property
    def highest_kept(self) -> float | None:
        """The highest rate that kept the goal; None if none did."""
        return max((one.rate_per_s for one in self.tried if one.kept), default=None)

    @property
    def lowest_missed(self) -> float | None:
        """The lowest rate that missed the goal; None if none did."""
        return min((one.rate_per_s for one in self.tried if not one.kept), default=None)

    @property
    def capacity(self) -> Interval | None:
        """The highest rate that keeps the goal, with its limits once `is_close`; None if no rate kept it."""
        highest_kept, lowest_missed = self._bracket
        if highest_kept is None:
            return None
        if lowest_missed is None or not self.is_close:
            return Interval(value=highest_kept)
        middle, factor = math.sqrt(highest_kept * lowest_missed), max(_NEAR, lowest_missed / highest_kept)
        near = [one for one in self.tried if 1 / factor <= one.rate_per_s / middle <= factor]
        each = (
            crossing([one.rate_per_s for one in near], [one.slow[name] for one in near], share)
            for name, share in self.allowed.items()
        )
        found = min(each, key=lambda one: one.value)
        value = min(max(found.value, highest_kept / _OUTSIDE), lowest_missed * _OUTSIDE)
        if value != found.value:
            # if the curve leads away from the trials, its limits are wrong, too
            return Interval(value=min(value, self.most))
        return Interval(
            value=min(value, self.most),
            low=found.low and min(found.low, self.most),
            high=found.high and min(found.high, self.most),
        )

    @property
    def is_close(self) -> bool:
        """True once the bracket is narrow: all further trials are refinements."""
        highest_kept, lowest_missed = self._bracket
        if highest_kept is not None and highest_kept >= self.most:
            return True
        return highest_kept is not None and lowest_missed is not None and lowest_missed / highest_kept <= _CLOSE

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None if the capacity is known, or too far outside of ``low`` and ``high``."""
        highest_kept, lowest_missed = self._bracket
        if self.refined == _REFINEMENTS or (highest_kept is not None and highest_kept >= self.most):
            return None
        low, high = highest_kept or self.low, lowest_missed or self.high
        if high / low > (_NARROW if highest_kept and lowest_missed else _CLOSE):
            return math.sqrt(low * high)
        if highest_kept is None:
            lower = self.low if high > self.low else high / 2
            return lower if lower >= self.low / _FARTHEST else None
        if lowest_missed is None:
            higher = min(self.high if low < self.high else 2 * low, self.most)
            return higher if higher <= self.high * _FARTHEST else None
        now = self.capacity
        assert now is not None
        return now.value * math.exp(_ASIDE if self.refined % 2 else -_ASIDE)

    @property
    def most_trials(self) -> int:
        """Number of further trials, at most; more only if the capacity lies outside of low and high."""
        highest_kept, lowest_missed = self._bracket
        if self.is_close:
            return _REFINEMENTS - self.refined if lowest_missed else 0
        width = math.log((lowest_missed or self.high) / (highest_kept or self.low))
        halvings = max(math.ceil(math.log2(max(width, 1e-9) / math.log(_CLOSE))), 0)
        return halvings + int(not highest_kept or not lowest_missed) + _REFINEMENTS - self.refined

    @property
    def refinements(self) -> int:
        """Number of refinements among the further trials, at most."""
        return min(self.most_trials, _REFINEMENTS - self.refined)

    def after(self, trial: Tried) -> Search:
        """Return the search after one more trial."""
        return replace(self, tried=(*self.tried, trial), refined=self.refined + self.is_close)

    @property
    def _bracket(self) -> tuple[float | None, float | None]:
        """The ends of the bracket; None for an end that is unknown."""
        tried = sorted(self.tried, key=lambda one: one.rate_per_s)
        slow = {name: monotone([one.slow[name] for one in tried]) for name in self.allowed}
        keeps = [all(slow[name][at] <= share for name, share in self.allowed.items()) for at in range(len(tried))]
        first = keeps.index(False) if False in keeps else len(keeps)
        highest_kept = tried[first - 1].rate_per_s if first else None
        return highest_kept, tried[first].rate_per_s if first < len(tried) else None


def monotone(shares: Sequence[float]) -> list[float]:
    """Return the sequence that never falls and is nearest to ``shares``: falling neighbours become their mean."""
    pools: list[list[float]] = []
    for share in shares:
        pools.append([share])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    return [fmean(pool) for pool in pools for _ in pool]
