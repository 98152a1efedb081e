"""Where a server's capacity lies after some trials, and at which rate to try next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ...base.numbers import Interval
from .estimate import crossing

LOW, HIGH = 0.3, 1.05
"""Where to look first, relative to what a closed loop reached."""
_FARTHEST = 64.0
"""Factor beyond these ends up to which rates are doubled or halved."""
_CLOSE, _NARROW = 1.2, 1.05
"""A rate that missed the goal over one that kept it: from the first on trials count as refinements and are longer;
from the second on their rate is an estimate."""
_REFINEMENTS = 6
_ASIDE = 0.02
"""The last trials are made in turn so far below and above the estimate, which all of them together improve."""
_NEAR = 1.12
"""The estimate looks at the trials within this factor, or the bracket's, of the bracket's middle."""
_OUTSIDE = 1.03
"""A curve is believed no further than this factor outside of the bracket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A rate and what came of it."""

    rate_per_s: float
    kept: bool
    slow: Mapping[str, float]
    """By limit, a name of `measure.engine.histogram.QUANTILES`: the share of requests that took longer, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where the capacity lies, after every trial made so far.

    Between the highest rate that kept the goal and the lowest that missed it ln(rate) is halved; what lies outside
    of ``low`` and ``high`` is looked for by doubling. Chance contradicts itself, so both follow from the shares
    of slow requests made monotone. Once they are narrow, the rate is tried at which a curve through the trials near
    them reaches what the goal allows.

    Source: Burden & Faires, Numerical Analysis, section 2.1; Ayer et al., Annals of Mathematical Statistics 26
    (1955), on pooling adjacent violators; C. F. J. Wu, JASA 80 (1985), on a quantile by trials at its estimate.
    """

    low: float
    """The lowest rate to try first, > 0 per second."""
    high: float
    """The highest rate to try first, per second."""
    allowed: Mapping[str, float]
    """By limit: the share of requests that may take longer, in (0, 1)."""
    most: float = math.inf
    """The rate that the server cannot exceed, as a closed loop has shown; per second."""
    tried: tuple[Tried, ...] = ()
    refined: int = 0
    """Number of trials made at an estimate."""

    @property
    def kept(self) -> float | None:
        """The highest rate that kept the goal; None while none did."""
        return max((one.rate_per_s for one in self.tried if one.kept), default=None)

    @property
    def missed(self) -> float | None:
        """The lowest rate that missed it; None while none did."""
        return min((one.rate_per_s for one in self.tried if not one.kept), default=None)

    @property
    def capacity(self) -> Interval | None:
        """The highest rate that keeps the goal, with its limits once it was closed in; None while none did."""
        kept, missed = self._bracket
        if kept is None:
            return None
        if missed is None or not self.is_close:
            return Interval(value=kept)
        middle, factor = math.sqrt(kept * missed), max(_NEAR, missed / kept)
        near = [one for one in self.tried if 1 / factor <= one.rate_per_s / middle <= factor]
        each = (
            crossing([one.rate_per_s for one in near], [one.slow[name] for one in near], share)
            for name, share in self.allowed.items()
        )
        found = min(each, key=lambda one: one.value)
        value = min(max(found.value, kept / _OUTSIDE), missed * _OUTSIDE)
        if value != found.value:
            # a curve that leads away from the trials knows no limits either
            return Interval(value=min(value, self.most))
        return Interval(
            value=min(value, self.most),
            low=found.low and min(found.low, self.most),
            high=found.high and min(found.high, self.most),
        )

    @property
    def is_close(self) -> bool:
        """True once the capacity is closed in: what follows are refinements."""
        kept, missed = self._bracket
        if kept is not None and kept >= self.most:
            return True
        return kept is not None and missed is not None and missed / kept <= _CLOSE

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None when the capacity is known, or lies too far off."""
        kept, missed = self._bracket
        if self.refined == _REFINEMENTS or (kept is not None and kept >= self.most):
            return None
        low, high = kept or self.low, missed or self.high
        if high / low > (_NARROW if kept and missed else _CLOSE):
            return math.sqrt(low * high)
        if kept is None:
            lower = self.low if high > self.low else high / 2
            return lower if lower >= self.low / _FARTHEST else None
        if missed is None:
            higher = min(self.high if low < self.high else 2 * low, self.most)
            return higher if higher <= self.high * _FARTHEST else None
        now = self.capacity
        assert now is not None
        return now.value * math.exp(_ASIDE if self.refined % 2 else -_ASIDE)

    @property
    def most_trials(self) -> int:
        """Number of further trials, at most; more only if the capacity lies outside of low and high."""
        kept, missed = self._bracket
        if self.is_close:
            return _REFINEMENTS - self.refined if missed else 0
        width = math.log((missed or self.high) / (kept or self.low))
        halvings = max(math.ceil(math.log2(max(width, 1e-9) / math.log(_CLOSE))), 0)
        return halvings + int(not kept or not missed) + _REFINEMENTS - self.refined

    @property
    def refinements(self) -> int:
        """Number of refinements among the further trials, at most."""
        return min(self.most_trials, _REFINEMENTS - self.refined)

    def after(self, trial: Tried) -> Search:
        """Return the search after one more trial."""
        return replace(self, tried=(*self.tried, trial), refined=self.refined + self.is_close)

    @property
    def _bracket(self) -> tuple[float | None, float | None]:
        """The highest rate that keeps the goal and the lowest that misses it, as far as the trials agree."""
        tried = sorted(self.tried, key=lambda one: one.rate_per_s)
        slow = {name: monotone([one.slow[name] for one in tried]) for name in self.allowed}
        keeps = [all(slow[name][at] <= share for name, share in self.allowed.items()) for at in range(len(tried))]
        first = keeps.index(False) if False in keeps else len(keeps)
        kept = tried[first - 1].rate_per_s if first else None
        return kept, tried[first].rate_per_s if first < len(tried) else None


def monotone(shares: Sequence[float]) -> list[float]:
    """Return the shares that never fall and are nearest to ``shares``: neighbours that fall become their mean."""
    pools: list[list[float]] = []
    for share in shares:
        pools.append([share])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    return [fmean(pool) for pool in pools for _ in pool]
