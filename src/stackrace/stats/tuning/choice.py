"""Which finalist is chosen: the one of which even a poor launch delivers the most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..limits import critical
from ..pairs import Array
from .grid import Flags
from .launched import Launched

__all__ = ["POOR", "Chosen", "chosen", "poor_launch"]

POOR = 0.1
"""One launch in so many delivers less than the limit by which configurations are chosen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """The best configuration."""

    index: int
    lower: Array
    """(K,): what nine launches of ten deliver at least, in ln units; NaN for those not launched twice."""


def poor_launch(known: Launched) -> Array:
    """Return the lower limit of what a further launch of each delivers: m − t·s·√(1 + 1/n), (K,).

    A one-sided prediction limit; t is the upper-``POOR`` quantile with the degrees of freedom of s. Source: Hahn &
    Meeker 1991, Statistical Intervals, section 4.7.
    """
    n = np.maximum(known.count, 1)
    t = np.array([critical(2, float(df), 2 * POOR) for df in known.df])
    return np.where(known.count >= 2, known.mean - t * known.sd * np.sqrt(1 + 1 / n), np.nan)


def chosen(known: Launched, among: Flags, least: int = 1) -> Chosen:
    """Return the one of the configurations ``among``, a mask, with the largest `poor_launch`.

    Those with fewer than ``least`` launches count only where nobody has so many.
    """
    lower = poor_launch(known)
    enough = among & (known.count >= max(least, 2))
    candidates = np.where(enough, lower, -np.inf)
    if not np.isfinite(candidates).any():
        candidates = np.where(among & (known.count > 0), known.mean, -np.inf)
    return Chosen(index=int(candidates.argmax()), lower=lower)
