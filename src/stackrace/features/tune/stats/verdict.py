"""The choice among configurations, and how it compares with all others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ....base.numbers import Interval
from ....stats.limits import critical, ratio_of
from ....stats.pairs import Array
from .estimates import Launched, Surface, launched
from .grid import Flags, Grid
from .rounds import FINAL_LAUNCHES, finals, in_play, rivals

_POOR = 0.1
"""One launch in so many delivers less than the limit by which configurations are chosen."""

_Z = NormalDist().inv_cdf(1 - _POOR)
"""So many standard deviations below the mean that is."""


def poor_launch(known: Launched) -> Array:
    """Return the lower limit of what a further launch of each delivers: m − t·s·√(1 + 1/n), (K,).

    A one-sided prediction limit; t is the upper-``_POOR`` quantile with the degrees of freedom of s. Source: Hahn &
    Meeker 1991, Statistical Intervals, section 4.7.
    """
    n = np.maximum(known.count, 1)
    t = np.array([critical(2, float(df), 2 * _POOR) for df in known.df])
    return np.where(known.count >= 2, known.mean - t * known.sd * np.sqrt(1 + 1 / n), np.nan)


def _chosen(known: Launched, expected: Surface, among: Flags, least: int) -> int:
    """Return the one of the configurations ``among``, a mask, whose poor launch gives the most.

    By `poor_launch` where there are ``least`` launches; of fewer, what is expected from those like it, too, by as
    many standard deviations below.
    """
    unsure = expected.mean - _Z * np.hypot(expected.sd, known.sd)
    lower = np.where(known.count >= max(least, 2), poor_launch(known), unsure)
    return int(np.where(among & np.isfinite(lower), lower, -np.inf).argmax())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One configuration."""

    response: float
    """Its mean in ln units, beside the chosen one's ``value``; NaN where nothing was measured."""
    launches: int
    sd: float
    """What a launch of it varies by, in ln units."""
    relative: float
    """The mean compared with the chosen one's, as a ratio: in the finals where it was in them."""
    ratio: Interval | None
    """Chosen ÷ this one with limits of 95 %, in the finals where it was in them; None where the two met in fewer
    than two blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found."""

    index: int
    """The chosen configuration; −1 where none was measured."""
    outcomes: tuple[Outcome, ...]
    value: Interval | None
    """What the chosen one gives, exp of its response, with limits of 95 % for its mean."""
    launches: int
    """Of the chosen one: those that ``value`` and ``poor`` are from."""
    poor: float | None
    """exp of what nine of its launches of ten give at least."""
    scattering: tuple[int, ...]
    """Finalists with a larger mean that lost because their launches scatter."""
    rivals: tuple[int, ...]
    """Others that may be better by more than what matters."""
    equal: tuple[int, ...]
    """Others that were launched twice and more, and differ by less than what matters, by their limits."""


def verdict(grid: Grid) -> Verdict:
    """Choose among the configurations of ``grid``; see `_chosen`.

    Among those that may be the best; where the race ended before the finals, what is expected counts, too. The
    choice is by all launches. The figures are from the finals alone, where there were two blocks of them: a
    configuration comes into the finals by launches that were better than usual, and would promise too much.

    Source: Capen, Clapp & Campbell 1971, Competitive bidding in high-risk situations, Journal of Petroleum
    Technology 23 (the winner's curse).
    """
    known = launched(grid.values)
    possible = known.count > 0
    possible[list(grid.out)] = False
    alive, expected = in_play(grid)
    if not alive.any():
        blank = Outcome(response=math.nan, launches=0, sd=math.nan, relative=math.nan, ratio=None)
        return Verdict(
            index=-1, outcomes=(blank,) * len(known.mean), value=None, launches=0, poor=None, scattering=(),
            rivals=(), equal=(),
        )  # fmt: skip
    index = _chosen(known, expected, alive, FINAL_LAUNCHES)
    last = _last(grid, index)
    anew = launched(last)
    lower = poor_launch(anew)[index]
    outcomes = tuple(_outcome(grid.values, known, last, anew, index, i) for i in range(len(known.mean)))
    finalists = np.flatnonzero(alive & (known.count >= FINAL_LAUNCHES))
    ahead = [known.mean[i] > known.mean[index] + 1e-9 and one.relative > 1 for i, one in enumerate(outcomes)]
    better = [int(i) for i in finalists if i != index and ahead[i]]
    if known.count[index] < FINAL_LAUNCHES:
        better = []
    return Verdict(
        index=index,
        outcomes=outcomes,
        value=_own(anew.mean[index], anew.sd[index], int(anew.count[index]), anew.df[index]),
        launches=int(anew.count[index]),
        poor=None if math.isnan(lower) else math.exp(lower),
        scattering=tuple(better),
        rivals=rivals(grid, index),
        equal=tuple(i for i, one in enumerate(outcomes) if i != index and possible[i] and _alike(one, grid.delta)),
    )


def _last(grid: Grid, index: int) -> Array:
    """Return what the finals measured; what all blocks did where the chosen one has not two launches there."""
    blocks = finals(grid)
    last = grid.values[:, -blocks:] if blocks else grid.values
    return last if np.isfinite(last[index]).sum() >= 2 else grid.values


def _outcome(values: Array, known: Launched, last: Array, anew: Launched, index: int, i: int) -> Outcome:
    """Return what is known of configuration ``i``: by the blocks ``last``, by all where it was in none of those."""
    again = anew if anew.count[i] else known
    apart = float(again.mean[i] - again.mean[index])
    met = last if np.isfinite(last[index] - last[i]).sum() >= 2 else values
    by = anew if met is last else known
    return Outcome(
        response=float(anew.mean[index]) + apart,
        launches=int(known.count[i]),
        sd=float(known.sd[i]),
        relative=math.exp(apart) if known.count[i] else math.nan,
        ratio=_ratio(met, index, i, by.sd, by.df),
    )


def _ratio(values: Array, first: int, second: int, sd: Array, df: Array) -> Interval | None:
    """Return exp(m ± t·√((s_i² + s_j²)/n)) over the n blocks in which both were measured; None below two.

    The variances lean on all configurations' (`launched`), with Welch's degrees of freedom. Source: Welch 1938,
    Biometrika 29.
    """
    both = values[first] - values[second]
    both = both[np.isfinite(both)]
    if first == second or len(both) < 2:
        return None
    one, other = float(sd[first]) ** 2, float(sd[second]) ** 2
    nu = (one + other) ** 2 / (one**2 / float(df[first]) + other**2 / float(df[second]))
    # what the blocks themselves show may be more than launches vary by
    seen = float(np.var(both, ddof=1))
    variance = max(one + other, seen if len(both) > 3 else 0.0)
    return ratio_of(float(both.mean()), critical(2, nu, 0.05) * math.sqrt(variance / len(both)))


def _own(mean: float, sd: float, n: int, df: float) -> Interval:
    return ratio_of(float(mean), critical(2, float(df), 0.05) * float(sd) / math.sqrt(n) if n > 1 else math.inf)


def _alike(one: Outcome, delta: float) -> bool:
    ratio = one.ratio
    return (
        ratio is not None
        and ratio.low is not None
        and ratio.high is not None
        and (math.log(ratio.high) <= delta and math.log(ratio.low) >= -delta)
    )
