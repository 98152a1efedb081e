"""All pairs of stacks with their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pairs import Array, Counts, Pairs

__all__ = ["Family", "widened"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """All pairs of K stacks at one load level, as K×K matrices: i minus j in ln of the response. The diagonals hold
    zeros."""

    estimate: Array
    """NaN where two stacks share no block."""
    half_width: Array
    """Half the width of the limits, in ln units; infinite below two common blocks."""
    blocks: Counts
    """The number of common blocks."""


def widened(pairs: Pairs, variance: Array, width: Array) -> Family:
    """Return all pairs with limits ``width`` standard errors wide to either side."""
    with np.errstate(invalid="ignore", divide="ignore"):
        half = np.where(pairs.df > 0, width * np.sqrt(variance / pairs.blocks), np.inf)
    k = half.shape[-1]
    half[..., np.arange(k), np.arange(k)] = 0.0
    return Family(estimate=pairs.estimate, half_width=half, blocks=pairs.blocks)
