"""A distribution cut into rows to be drawn: logarithmic steps from its fastest to its slowest value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .histogram import Bucket

__all__ = ["Row", "edges", "rows"]

_LEAST_STEP = 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The values between two edges."""

    edge_s: float
    """The upper edge, in seconds; the row before ends where this one begins."""
    count: int
    """How many values it holds."""
    share: float
    """Their share of all values, 0 to 1."""
    cumulative: float
    """The share of all values up to the upper edge, 0 to 1."""


def edges(*distributions: Sequence[Bucket], steps: int = 14) -> tuple[float, ...]:
    """Return the upper edges in seconds that hold all values of ``distributions``; none when there are none.

    Steps are at least 2 % wide, so there are fewer of them where all values are alike.
    """
    ends = [(buckets[0].value_s, buckets[-1].value_s) for buckets in distributions if buckets]
    if not ends:
        return ()
    low, high = max(min(low for low, _ in ends), 1e-6), max(high for _, high in ends)
    step = max((high / low) ** (1 / steps), _LEAST_STEP)
    upper = [low * step]
    while len(upper) < steps and upper[-1] < high:
        upper.append(upper[-1] * step)
    return tuple(upper)


def rows(buckets: Sequence[Bucket], upper: Sequence[float]) -> tuple[Row, ...]:
    """Return one row per edge of ``upper``; what lies beyond the last edge belongs to it."""
    counts = [0] * len(upper)
    for bucket in buckets:
        counts[min(bisect_left(upper, bucket.value_s), len(upper) - 1)] += bucket.count
    total = sum(counts) or 1
    return tuple(
        Row(edge_s=edge_s, count=count, share=count / total, cumulative=cumulative / total)
        for edge_s, count, cumulative in zip(upper, counts, accumulate(counts), strict=True)
    )
