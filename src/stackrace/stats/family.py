"""All pairs of stacks with their limits."""

from __future__ import annotations

from dataclasses import dataclass

from .pairs import Array, Counts

__all__ = ["Family"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Family:
    """All pairs of K stacks at one load level, as K×K matrices: i minus j in ln of the response.

    ``estimate`` is NaN where two stacks share no block, ``half_width`` infinite below two; ``blocks`` counts
    the common blocks. The diagonals hold zeros.
    """

    estimate: Array
    half_width: Array
    blocks: Counts
