"""Contrasts: differences between cells of one race, block by block, and limits that hold for many of them at once.

A cell is a stack, a configuration, or whatever else has one value in each block. All inference about several cells
uses these limits: m ± c·√(S²/n), where m is the trimmed mean of the differences within n blocks, S² the sum of both
cells' variances, each pulled towards that of all cells, and c the quantile of the family of contrasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .limits import Quantile, each
from .pairs import ROBUST_FROM, Array, Counts, Family, Flags, Pairs, pairs
from .variances import Variances, measured


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrasts:
    """Contrasts with what their limits follow from, as arrays of one shape: (…, K, K) for all pairs of K cells."""

    estimate: Array
    """Difference in ln units; NaN without a common block."""
    variance: Array
    """Variance S² of one block's difference."""
    nu: Array
    """Degrees of freedom of ``variance``; 0 if nothing is known."""
    blocks: Counts
    """Number n of common blocks."""

    @property
    def error(self) -> Array:
        """Standard error √(S²/n) of ``estimate``; infinite if nothing is known."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.nu > 0, np.sqrt(self.variance / self.blocks), np.inf)

    def half_width(self, quantile: Quantile, stacks: int | Counts, alpha: float | Array) -> Array:
        """Return ``quantile(stacks, ν, alpha)`` standard errors; infinite if nothing is known.

        ``stacks`` is the number of cells that the limits hold for; it and ``alpha`` may be arrays.
        """
        width = each(quantile, stacks, self.nu, alpha)
        return np.where(np.isnan(width), np.inf, width * self.error)

    def family(self, quantile: Quantile, stacks: int | Counts, alpha: float | Array) -> Family:
        """Return all pairs with limits of `half_width` to either side, 0 on the diagonals."""
        half = self.half_width(quantile, stacks, alpha)
        k = half.shape[-1]
        half[..., np.arange(k), np.arange(k)] = 0.0
        return Family(estimate=self.estimate, half_width=half, blocks=self.blocks)


def contrasts(values: Sequence[Sequence[float]] | Array, robust_from: int = ROBUST_FROM) -> Contrasts:
    """Return all pairs of K cells; ``values`` has shape (…, K, B): see `pairs.pairs`.

    Source: `pairs.pairs` for m and n, `variances` for S² and ν.
    """
    found = pairs(np.asarray(values, dtype=float), robust_from)
    return with_variances(found, measured(found), found.df > 0)


def with_variances(found: Pairs | Family, variances: Variances, known: Flags) -> Contrasts:
    """Return the pairs ``found``, with S² and ν from the ``variances`` of their cells where ``known`` is True."""
    variance, nu = variances.of_pairs()
    return Contrasts(estimate=found.estimate, variance=variance, nu=np.where(known, nu, 0.0), blocks=found.blocks)
