"""Which finalist is chosen: the one with the best poor launch."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ....stats.limits import critical
from ....stats.pairs import Array
from .grid import Flags
from .launched import Launched
from .surface import Surface

__all__ = ["POOR", "chosen", "poor_launch"]

POOR = 0.1
"""One launch in so many delivers less than the limit by which configurations are chosen."""

_Z = NormalDist().inv_cdf(1 - POOR)
"""So many standard deviations below the mean that is."""


def poor_launch(known: Launched) -> Array:
    """Return the lower limit of what a further launch of each delivers: m − t·s·√(1 + 1/n), (K,).

    A one-sided prediction limit; t is the upper-``POOR`` quantile with the degrees of freedom of s. Source: Hahn &
    Meeker 1991, Statistical Intervals, section 4.7.
    """
    n = np.maximum(known.count, 1)
    t = np.array([critical(2, float(df), 2 * POOR) for df in known.df])
    return np.where(known.count >= 2, known.mean - t * known.sd * np.sqrt(1 + 1 / n), np.nan)


def chosen(known: Launched, expected: Surface, among: Flags, least: int) -> int:
    """Return the one of the configurations ``among``, a mask, whose poor launch gives the most.

    By `poor_launch` where there are ``least`` launches; of fewer, what is expected from those like it, too, by as
    many standard deviations below.
    """
    unsure = expected.mean - _Z * np.hypot(expected.sd, known.sd)
    lower = np.where(known.count >= max(least, 2), poor_launch(known), unsure)
    return int(np.where(among & np.isfinite(lower), lower, -np.inf).argmax())
