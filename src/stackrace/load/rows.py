"""A distribution cut into rows to be drawn: logarithmic steps from its fastest to its slowest value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from .histogram import Bucket

__all__ = ["Row", "edges", "rows"]

_LEAST_STEP = 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """``count`` values above the row before and up to ``edge_s`` seconds; ``share`` of all, and up to here."""

    edge_s: float
    count: int
    share: float
    cumulative: float


def edges(*distributions: Sequence[Bucket], steps: int = 14) -> tuple[float, ...]:
    """Return the upper edges in seconds that hold all values of ``distributions``; none when there are none.

    Steps are at least 2 % wide, so there are fewer of them where all values are alike.
    """
    ends = [(buckets[0].value_s, buckets[-1].value_s) for buckets in distributions if buckets]
    if not ends:
        return ()
    low, high = max(min(low for low, _ in ends), 1e-6), max(high for _, high in ends)
    step = max((high / low) ** (1 / steps), _LEAST_STEP)
    found = [low * step]
    while len(found) < steps and found[-1] < high:
        found.append(found[-1] * step)
    return tuple(found)


def rows(buckets: Sequence[Bucket], upper: Sequence[float]) -> tuple[Row, ...]:
    """Return one row per edge of ``upper``; what lies beyond the last edge belongs to it."""
    counts = [0] * len(upper)
    for bucket in buckets:
        counts[min(bisect_left(upper, bucket.value_s), len(upper) - 1)] += bucket.count
    total, seen, found = sum(counts), 0, []
    for edge, count in zip(upper, counts, strict=True):
        seen += count
        share = count / total if total else 0.0
        found.append(Row(edge_s=edge, count=count, share=share, cumulative=seen / total if total else 0.0))
    return tuple(found)
