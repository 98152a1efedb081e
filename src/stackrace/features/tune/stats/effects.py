"""What each setting does on the average over the others, and whether it matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ....stats.limits import critical, each
from ....stats.pairs import Array
from .grid import Flags, Grid
from .launched import PRIOR_DF, Launched, launched

__all__ = ["MainEffect", "main_effects"]

_ALPHA = 0.05

_LEAST_LAUNCHES = 2
"""Each of two values that are compared stands on so many launches at least: one says nothing of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainEffect:
    """One setting's."""

    span: float
    """How far its best and its worst value lie apart, in ln units, over configurations that differ in it alone."""
    low: float
    """The least that may be, with 95 % confidence."""
    high: float
    """The most that may be; infinite where too little is known."""
    best: float
    """The step of its best value, NaN where none is known."""

    def matters(self, delta: float) -> bool | None:
        """Tell whether more than ``delta`` hangs on it; None where that is not known."""
        if self.high <= delta:
            return False
        return True if self.low > delta else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Apart:
    """Two values of a setting: the mean difference between configurations that differ in it alone."""

    low: float
    high: float
    """The two steps."""
    difference: float
    """In ln units, positive where ``high`` is better."""
    variance: float
    """Of the mean difference."""
    df: float
    """Degrees of freedom of ``variance``."""


def main_effects(grid: Grid) -> tuple[MainEffect, ...]:
    """Return the effect of every setting among the configurations that were launched and are possible.

    For two values of a setting, the mean difference of the configurations that differ in nothing else, each pair
    weighted alike. Its variance is that of the launches, Σ(s_i²/n_i + s_j²/n_j)/m² with Welch's degrees of freedom,
    no more than the common variance has; or what the m pairs' own differences scatter by, with m − 1, whichever is
    larger. The half-width of each difference is that of the Tukey family of the setting's values. So a setting that
    helps here and hurts there has no narrow limits, and is not called idle.

    Nothing is known before any configuration was launched twice: until then what a launch varies by is a guess. Two
    values are compared only where each stands on ``_LEAST_LAUNCHES``. A setting with a value that cannot be
    compared may matter, but is not called idle.

    Source: Tukey 1953, The problem of multiple comparisons; Box, Hunter & Hunter 2005, Statistics for
    Experimenters, chapter 5, for main effects; Welch 1938, Biometrika 29.
    """
    known = launched(grid.values)
    usable = known.count > 0
    usable[[*grid.out, *grid.strangers]] = False
    return tuple(_effect(grid, d, usable, known) for d in range(grid.places.shape[1]))


def _effect(grid: Grid, d: int, usable: Flags, known: Launched) -> MainEffect:
    steps = sorted({float(step) for step in grid.places[usable, d] if np.isfinite(step)})
    others = np.delete(grid.places, d, axis=1)
    found = [
        one
        for low, high in combinations(steps, 2)
        if (one := _apart(others, (low, _at(grid, d, usable, low)), (high, _at(grid, d, usable, high)), known))
    ]
    if not found or known.common_df <= PRIOR_DF:
        return MainEffect(span=0.0, low=0.0, high=float("inf"), best=float("nan"))
    is_whole = {*steps} <= {step for one in found for step in (one.low, one.high)}
    width = each(critical, len(steps), np.array([one.df for one in found]), _ALPHA)
    sizes = np.array([abs(one.difference) for one in found])
    half = width * np.sqrt([one.variance for one in found])
    widest = found[int(sizes.argmax())]
    return MainEffect(
        span=float(sizes.max()),
        low=max(float((sizes - half).max()), 0.0),
        high=float((sizes + half).max()) if is_whole else float("inf"),
        best=widest.high if widest.difference > 0 else widest.low,
    )


def _at(grid: Grid, d: int, usable: Flags, step: float) -> list[int]:
    return [int(i) for i in np.flatnonzero(usable & (grid.places[:, d] == step))]


def _apart(
    others: Array, low: tuple[float, Sequence[int]], high: tuple[float, Sequence[int]], known: Launched
) -> _Apart | None:
    """Return how far those configurations at two steps lie apart that differ in nothing else; None for too few."""
    pairs = [(i, j) for i in low[1] for j in high[1] if np.array_equal(others[i], others[j])]
    m = len(pairs)
    sides = [{*side} for side in zip(*pairs, strict=True)]
    if not m or min(int(known.count[[*side]].sum()) for side in sides) < _LEAST_LAUNCHES:
        return None
    own = known.sd**2 / np.maximum(known.count, 1) / m**2
    parts = [(float(own[i]), float(known.df[i])) for pair in pairs for i in pair]
    variance = sum(part for part, _ in parts)
    df = min(variance**2 / sum(part**2 / df for part, df in parts), known.common_df)
    differences = [float(known.mean[j] - known.mean[i]) for i, j in pairs]
    scatter = float(np.var(differences, ddof=1)) / m if m > 1 else 0.0
    if scatter > variance:
        variance, df = scatter, m - 1.0
    return _Apart(low=low[0], high=high[0], difference=float(np.mean(differences)), variance=variance, df=df)
