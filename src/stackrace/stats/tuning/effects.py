"""What each setting does on the average over the others, and whether it matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..limits import critical
from ..pairs import Array
from .grid import Flags, Grid
from .launched import Launched, launched

__all__ = ["MainEffect", "main_effects"]

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MainEffect:
    """One setting's."""

    span: float
    """How far its best and its worst value lie apart, in ln units, over configurations that differ in it alone."""
    high: float
    """The most that may be, with 95 % confidence; infinite where too little is known."""
    best: float
    """The step of its best value, NaN where none is known."""

    def matters(self, delta: float) -> bool | None:
        """Tell whether more than ``delta`` hangs on it; None where that is not known."""
        if self.high <= delta:
            return False
        return True if 2 * self.span - self.high > delta else None


def main_effects(grid: Grid) -> tuple[MainEffect, ...]:
    """Return the effect of every setting among the configurations that were launched and are possible.

    For two values of a setting, the mean difference of the configurations that differ in nothing else, each pair
    weighted alike; its variance is that of the launches, Σ(s_i²/n_i + s_j²/n_j)/m², and what the pairs' own
    differences scatter by, whichever is larger. The half-width of the span is that of the Tukey family of the
    setting's values. So a setting that helps here and hurts there has no narrow limits, and is not called idle.

    Source: Tukey 1953, The problem of multiple comparisons; Box, Hunter & Hunter 2005, Statistics for
    Experimenters, chapter 5, for main effects.
    """
    known = launched(grid.values)
    usable = known.count > 0
    usable[[*grid.out, *grid.strangers]] = False
    return tuple(_effect(grid, d, usable, known) for d in range(grid.places.shape[1]))


def _effect(grid: Grid, d: int, usable: Flags, known: Launched) -> MainEffect:
    steps = sorted({float(step) for step in grid.places[usable, d] if np.isfinite(step)})
    others = np.delete(grid.places, d, axis=1)
    apart: dict[tuple[float, float], tuple[float, float]] = {}
    for low in steps:
        for high in steps:
            if low < high:
                found = _difference(others, _at(grid, d, usable, low), _at(grid, d, usable, high), known)
                if found is not None:
                    apart[low, high] = found
    if not apart:
        return MainEffect(span=0.0, high=float("inf"), best=float("nan"))
    width = critical(max(len(steps), 2), 1000.0, ALPHA)
    (low, high), (difference, _) = max(apart.items(), key=lambda item: abs(item[1][0]))
    most = max(abs(value) + width * error for value, error in apart.values())
    return MainEffect(span=abs(difference), high=most, best=high if difference > 0 else low)


def _at(grid: Grid, d: int, usable: Flags, step: float) -> list[int]:
    return [int(i) for i in np.flatnonzero(usable & (grid.places[:, d] == step))]


def _difference(
    others: Array, low: Sequence[int], high: Sequence[int], known: Launched
) -> tuple[float, float] | None:
    """Return the mean difference of ``high`` to ``low``, and its standard error; None where none are pairs."""
    found, variance = [], 0.0
    for i in low:
        for j in high:
            if np.array_equal(others[i], others[j]):
                found.append(float(known.mean[j] - known.mean[i]))
                variance += float(known.sd[i] ** 2 / known.count[i] + known.sd[j] ** 2 / known.count[j])
    if not found:
        return None
    m = len(found)
    scatter = float(np.var(found, ddof=1)) / m if m > 1 else 0.0
    return float(np.mean(found)), float(np.sqrt(max(variance / m**2, scatter)))
