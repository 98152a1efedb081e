"""A latency distribution as text that every HdrHistogram plotter reads.

The same lines as ``AbstractHistogram.outputPercentileDistribution`` of HdrHistogram's Java original prints with
its plain format and a scaling ratio of one million, nanoseconds to milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from .histogram import Bucket, censored_count, distribution

__all__ = ["percentile_distribution"]

TICKS_PER_HALF_DISTANCE = 5
_DIGITS = 3
_MS_PER_S = 1e3
_NS_PER_MS = 1e6

_SUB_BUCKETS = 2048
"""The power of two that holds twice 10^3: what three significant digits take."""
_BUCKETS = 32
"""How often 2048 ns must double to hold the longest value, one hour."""


def percentile_distribution(encoded: bytes) -> str:
    """Return the distribution with its header and footer, values in milliseconds.

    Values that are only lower bounds count at that bound; a comment line at the end says how many there are.

    Source: HdrHistogram, PercentileIterator and AbstractHistogram.outputPercentileDistribution (public domain).
    """
    buckets = distribution(encoded)
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    lines += _lines(buckets)
    total = sum(bucket.count for bucket in buckets)
    mean, deviation = _moments(buckets, total)
    longest = buckets[-1].value_s * _MS_PER_S if buckets else 0.0
    lines += [
        f"#[Mean    = {mean:12.{_DIGITS}f}, StdDeviation   = {deviation:12.{_DIGITS}f}]",
        f"#[Max     = {longest:12.{_DIGITS}f}, Total count    = {total:12d}]",
        f"#[Buckets = {_BUCKETS:12d}, SubBuckets     = {_SUB_BUCKETS:12d}]",
    ]
    if bounds := censored_count(encoded):
        lines.append(f"#[Lower bounds = {bounds} values were at least so long when the run ended or gave them up]")
    return "\n".join(lines) + "\n"


def _lines(buckets: Sequence[Bucket]) -> Iterator[str]:
    total = sum(bucket.count for bucket in buckets)
    level, cumulative = 0.0, 0
    for bucket in buckets:
        cumulative += bucket.count
        value = f"{bucket.value_s * _MS_PER_S:12.{_DIGITS}f}"
        while 100.0 * cumulative / total >= level:
            yield f"{value} {level / 100:.12f} {cumulative:10d} {1 / (1 - level / 100):14.2f}"
            level = _next(level)
            if cumulative == total:
                yield f"{value} {1:.12f} {cumulative:10d}"
                return


def _next(level: float) -> float:
    """Go on to the next percentile: steps halve each time the distance to 100 % has halved."""
    halvings: int = int(math.log2(100.0 / (100.0 - level))) + 1
    return level + 100.0 / (TICKS_PER_HALF_DISTANCE << halvings)


def _moments(buckets: Sequence[Bucket], total: int) -> tuple[float, float]:
    """Return mean and standard deviation in milliseconds, each value taken at the middle of its bucket."""
    if not total:
        return 0.0, 0.0
    middles = [(_middle_ns(round(bucket.value_s * 1e9)), bucket.count) for bucket in buckets]
    mean = sum(middle * count for middle, count in middles) / total
    spread = sum((middle - mean) ** 2 * count for middle, count in middles) / total
    return mean / _NS_PER_MS, math.sqrt(spread) / _NS_PER_MS


def _middle_ns(highest_ns: int) -> int:
    """Return the middle of the bucket that ends at ``highest_ns``; up to 2047 ns buckets hold one value each."""
    width = 1 << max(0, highest_ns.bit_length() - _SUB_BUCKETS.bit_length() + 1)
    return highest_ns - width + 1 + width // 2
