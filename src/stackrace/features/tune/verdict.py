"""The choice among configurations, and how it compares with all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ...base.numbers import Interval
from ...stats.limits import critical, ratio_of
from ...stats.pairs import Array
from .estimates import Grid, Launched, launched
from .search import FINAL_LAUNCHES, State, finals, state_of

_POOR = 0.1
"""One launch in so many delivers less than the limit by which configurations are chosen."""

_Z = NormalDist().inv_cdf(1 - _POOR)
"""So many standard deviations below the mean that is."""

_ALPHA = 0.05


def poor_launch(known: Launched) -> Array:
    """Return the lower limit of what a further launch of each delivers: m − t·s·√(1 + 1/n), (K,).

    A one-sided prediction limit; t is the upper-``_POOR`` quantile with the degrees of freedom of s. Source: Hahn &
    Meeker 1991, Statistical Intervals, section 4.7.
    """
    n = np.maximum(known.count, 1)
    t = np.array([critical(2, float(df), 2 * _POOR) for df in known.df])
    return np.where(known.count >= 2, known.mean - t * known.sd * np.sqrt(1 + 1 / n), np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """The choice, and how all configurations compare with it.

    The choice is by all launches. The figures are from the finals alone, where there were two blocks of them: a
    configuration comes into the finals by launches that were better than usual, and would promise too much.

    Source: Capen, Clapp & Campbell 1971, Competitive bidding in high-risk situations, Journal of Petroleum
    Technology 23 (the winner's curse).
    """

    state: State
    index: int
    """The chosen configuration."""
    last: Array
    """(K, B): what the finals measured; what all blocks did where the chosen one has not two launches there."""
    anew: Launched
    """What that says."""

    @property
    def launches(self) -> int:
        """Those of the chosen one that its ``value`` and ``poor`` are from."""
        return int(self.anew.count[self.index])

    @property
    def value(self) -> Interval:
        """What the chosen one gives, exp of its response, with limits of 95 % for its mean."""
        n, sd, df = self.launches, float(self.anew.sd[self.index]), float(self.anew.df[self.index])
        half = critical(2, df, _ALPHA) * sd / math.sqrt(n) if n > 1 else math.inf
        return ratio_of(float(self.anew.mean[self.index]), half)

    @property
    def poor(self) -> float | None:
        """exp of what nine of ten launches of the chosen one give at least; None for a single launch."""
        lower = float(poor_launch(self.anew)[self.index])
        return None if math.isnan(lower) else math.exp(lower)

    def relative(self, i: int) -> float:
        """Return the mean of a configuration as a ratio to the chosen one's: in the finals where it was in them."""
        known = self.anew if self.anew.count[i] else self.state.known
        return math.exp(known.mean[i] - known.mean[self.index])

    def ratio(self, i: int) -> Interval | None:
        """Return chosen ÷ a configuration with limits of 95 %, in the finals where it was in them.

        exp(m ± t·√((s_i² + s_j²)/n)) over the n blocks in which both were measured; None below two. The variances
        lean on all configurations' (`launched`), with Welch's degrees of freedom.

        Source: Welch 1938, Biometrika 29.
        """
        known, both = self.anew, self.last[self.index] - self.last[i]
        if np.isfinite(both).sum() < 2:
            values = self.state.grid.values
            known, both = self.state.known, values[self.index] - values[i]
        both = both[np.isfinite(both)]
        if i == self.index or len(both) < 2:
            return None
        variances, df = known.sd[[self.index, i]] ** 2, known.df[[self.index, i]]
        nu = float(variances.sum() ** 2 / (variances**2 / df).sum())
        # what the blocks themselves show may be more than launches vary by
        seen = float(np.var(both, ddof=1)) if len(both) > 3 else 0.0
        variance = max(float(variances.sum()), seen)
        return ratio_of(float(both.mean()), critical(2, nu, _ALPHA) * math.sqrt(variance / len(both)))

    @property
    def scattering(self) -> tuple[int, ...]:
        """Finalists with a larger mean that lost because their launches scatter."""
        known = self.state.known
        if known.count[self.index] < FINAL_LAUNCHES:
            return ()
        ahead = self.state.alive & (known.count >= FINAL_LAUNCHES) & (known.mean > known.mean[self.index] + 1e-9)
        return tuple(int(i) for i in np.flatnonzero(ahead) if self.relative(int(i)) > 1)

    @property
    def equals(self) -> tuple[int, ...]:
        """Others that were launched twice and more, and differ by less than what matters, by their limits."""
        delta, out = self.state.grid.delta, self.state.grid.out
        found = ((i, self.ratio(i)) for i in range(len(self.last)) if i not in out)
        return tuple(
            i
            for i, ratio in found
            if ratio is not None and ratio.low is not None and ratio.high is not None
            if math.log(ratio.high) <= delta and math.log(ratio.low) >= -delta
        )


def verdict(grid: Grid) -> Verdict | None:
    """Choose among the configurations of ``grid`` that may be the best; None where none was measured.

    The one whose poor launch gives the most: by `poor_launch` where there are ``FINAL_LAUNCHES``; of fewer, what is
    expected from those like it, too, by as many standard deviations below.
    """
    state = state_of(grid)
    if not state.alive.any():
        return None
    known, expected = state.known, state.expected
    unsure = expected.mean - _Z * np.hypot(expected.sd, known.sd)
    lower = np.where(known.count >= FINAL_LAUNCHES, poor_launch(known), unsure)
    index = int(np.where(state.alive & np.isfinite(lower), lower, -np.inf).argmax())
    blocks = finals(grid)
    last = grid.values[:, -blocks:] if blocks else grid.values
    last = last if np.isfinite(last[index]).sum() >= 2 else grid.values
    return Verdict(state=state, index=index, last=last, anew=launched(last))
