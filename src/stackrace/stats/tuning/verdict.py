"""The choice among configurations, and how it compares with all others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...model.interval import Interval
from ..limits import critical
from ..logs import ratio_of
from ..pairs import Array
from .choice import chosen, poor_launch
from .grid import Grid
from .launched import launched
from .rounds import FINAL_LAUNCHES, in_play, rivals

__all__ = ["Outcome", "Verdict", "verdict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One configuration."""

    response: float
    """Its mean in ln units; NaN where nothing was measured."""
    launches: int
    sd: float
    """What a launch of it varies by, in ln units."""
    relative: float
    """The mean compared with the chosen one's, as a ratio."""
    ratio: Interval | None
    """Chosen ÷ this one with limits of 95 %; None where the two met in fewer than two blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found."""

    index: int
    """The chosen configuration; −1 where none was measured."""
    outcomes: tuple[Outcome, ...]
    value: Interval | None
    """What the chosen one gives, exp of its response, with limits of 95 % for its mean."""
    poor: float | None
    """exp of what nine of its launches of ten give at least."""
    scattering: tuple[int, ...]
    """Finalists with a larger mean that lost because their launches scatter."""
    rivals: tuple[int, ...]
    """Others that may be better by more than what matters."""
    equal: tuple[int, ...]
    """Others that were launched twice and more, and differ by less than what matters, by their limits."""


def verdict(grid: Grid) -> Verdict:
    """Choose among the configurations of ``grid``; see `choice.chosen`.

    Among those that may be the best; where the race ended before the finals, what is expected counts, too.
    """
    known = launched(grid.values)
    possible = known.count > 0
    possible[list(grid.out)] = False
    alive, expected = in_play(grid)
    if not alive.any():
        blank = Outcome(response=math.nan, launches=0, sd=math.nan, relative=math.nan, ratio=None)
        return Verdict(
            index=-1, outcomes=(blank,) * len(known.mean), value=None, poor=None, scattering=(), rivals=(), equal=()
        )
    index = chosen(known, expected, alive, FINAL_LAUNCHES)
    lower = poor_launch(known)
    outcomes = tuple(
        Outcome(
            response=float(known.mean[i]),
            launches=int(known.count[i]),
            sd=float(known.sd[i]),
            relative=math.exp(known.mean[i] - known.mean[index]) if known.count[i] else math.nan,
            ratio=_ratio(grid, index, i, known.sd, known.df),
        )
        for i in range(len(known.mean))
    )
    finalists = np.flatnonzero(alive & (known.count >= FINAL_LAUNCHES))
    better = [int(i) for i in finalists if i != index and known.mean[i] > known.mean[index] + 1e-9]
    if known.count[index] < FINAL_LAUNCHES:
        better = []
    return Verdict(
        index=index,
        outcomes=outcomes,
        value=_own(known.mean[index], known.sd[index], int(known.count[index]), known.df[index]),
        poor=None if math.isnan(lower[index]) else math.exp(lower[index]),
        scattering=tuple(better),
        rivals=rivals(grid, index),
        equal=tuple(i for i, one in enumerate(outcomes) if i != index and possible[i] and _alike(one, grid.delta)),
    )


def _ratio(grid: Grid, first: int, second: int, sd: Array, df: Array) -> Interval | None:
    """Return exp(m ± t·√((s_i² + s_j²)/n)) over the n blocks in which both were measured; None below two.

    The variances lean on all configurations' (`launched`), with Welch's degrees of freedom. Source: Welch 1938,
    Biometrika 29.
    """
    both = grid.values[first] - grid.values[second]
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
