"""All pairs of stacks with their limits."""

from __future__ import annotations

from dataclasses import dataclass

from .pairs import Array, Counts

__all__ = ["Family"]


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
