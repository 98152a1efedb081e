"""Where a server's capacity lies after some trials, and at which rate to try next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...base.numbers import Interval
from .estimate import crossing

LOW, HIGH = 0.3, 1.05
"""Where to look first, relative to what a closed loop reached."""
_FARTHEST = 64.0
"""Factor beyond these ends up to which rates are doubled or halved."""
_BRACKET = 1.2
"""A rate that missed the goal, over one that kept it: closer ones are for the estimate."""
_REFINEMENTS = 6
"""Trials that follow, in turn a little below and above the estimate, which all of them together improve."""
_ASIDE = 0.03
_FAR, _NEAR, _MANY_NEAR = 1.35, 1.12, 4
"""The estimate looks at the trials within this factor; the closer ones alone where there are so many."""


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

    First ln(rate) is halved until a rate that kept the goal and one that missed it are close; what lies outside of
    ``low`` and ``high`` is looked for by doubling. A single trial decides little there, so from then on the rate is
    tried at which the share of slow requests, by all trials together, is what the goal allows.

    Source: Burden & Faires, Numerical Analysis, section 2.1; C. F. J. Wu, JASA 80 (1985), on estimating a quantile
    by trials at its estimate.
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
        if self.kept is None:
            return None
        if self.missed is None or not self._is_close:
            return Interval(value=self.kept)
        around = math.sqrt(self.kept * self.missed)
        each = [self._crossing(name, share, around) for name, share in self.allowed.items()]
        found = min(each, key=lambda one: one.value)
        value = min(max(found.value, self.kept / _BRACKET), self.missed * _BRACKET)
        if value != found.value:
            # a curve that leads away from the trials knows no limits either
            return Interval(value=min(value, self.most))
        return Interval(
            value=min(value, self.most),
            low=found.low and min(found.low, self.most),
            high=found.high and min(found.high, self.most),
        )

    @property
    def next_rate(self) -> float | None:
        """The rate to try next; None when the capacity is known, or lies too far off."""
        if self._is_close:
            if self.missed is None or self.refined == _REFINEMENTS or (now := self.capacity) is None:
                return None
            return now.value * math.exp(_ASIDE if self.refined % 2 else -_ASIDE)
        low, high = self.kept or self.low, self.missed or self.high
        if high / low > _BRACKET:
            return math.sqrt(low * high)
        if self.kept is None:
            lower = self.low if high > self.low else high / 2
            return lower if lower >= self.low / _FARTHEST else None
        higher = min(self.high if low < self.high else 2 * low, self.most)
        return higher if higher <= self.high * _FARTHEST else None

    @property
    def most_trials(self) -> int:
        """Number of further trials, at most; more only if the capacity lies outside of low and high."""
        if self._is_close:
            return _REFINEMENTS - self.refined if self.missed else 0
        width = math.log((self.missed or self.high) / (self.kept or self.low))
        halvings = max(math.ceil(math.log2(max(width, 1e-9) / math.log(_BRACKET))), 0)
        return halvings + int(not self.kept or not self.missed) + _REFINEMENTS

    def after(self, trial: Tried) -> Search:
        """Return the search after one more trial."""
        return replace(self, tried=(*self.tried, trial), refined=self.refined + self._is_close)

    @property
    def _is_close(self) -> bool:
        if self.kept is not None and self.kept >= self.most:
            return True
        return self.kept is not None and self.missed is not None and self.missed / self.kept <= _BRACKET

    def _crossing(self, name: str, share: float, around: float) -> Interval:
        def within(factor: float, middle: float) -> list[Tried]:
            return [one for one in self.tried if 1 / factor <= one.rate_per_s / middle <= factor]

        def found(used: Sequence[Tried]) -> Interval:
            return crossing([one.rate_per_s for one in used], [one.slow[name] for one in used], share)

        far = within(_FAR, around)
        first = found(far if len(far) > 1 else self.tried)
        near = within(_NEAR, first.value)
        return found(near) if len(near) >= _MANY_NEAR else first
