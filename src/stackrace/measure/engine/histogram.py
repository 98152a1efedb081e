"""Latency distributions as the engine encodes them: merged, summed up, cut into rows, written as percentiles."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from stackrace.base.errors import InputError
from stackrace.measure.load import Quantiles

from ._engine import Histogram

_NS = 1e-9
_SLOW_S = 0.5
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Quantiles among the fields of ``Quantiles``, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Latencies of about the same value: buckets are 0.1 % wide."""

    value_s: float
    """Longest latency in the bucket, in seconds; the bucket begins where the one before ends."""
    count: int
    """Number of latencies, at least 1."""


def merge(encoded: Iterable[bytes]) -> bytes:
    """Return one encoded distribution that holds all values of ``encoded``; empty without any."""
    return _merged(encoded).to_bytes()


def quantiles(encoded: Iterable[bytes]) -> Quantiles:
    """Return the quantiles in seconds of all values of ``encoded`` together; InputError if one is damaged."""
    return summary(_merged(encoded))


def distribution(encoded: bytes) -> tuple[Bucket, ...]:
    """Return the buckets of one encoded distribution that are not empty, ascending."""
    return tuple(Bucket(value_s=value * _NS, count=count) for value, count in _decode(encoded).buckets())


def slow(encoded: bytes) -> tuple[tuple[float, int], ...]:
    """Return the latencies of one encoded distribution above half a second, as pairs of seconds and their number.

    Latencies that are only lower bounds, because a request was cut off or unfinished, are left out.
    """
    known = ((value * _NS, count) for value, count in _decode(encoded).known_buckets())
    return tuple((value_s, count) for value_s, count in known if value_s > _SLOW_S)


def censored_count(encoded: bytes) -> int:
    """Return the number of values of one encoded distribution that are only lower bounds."""
    return _decode(encoded).censored_count


def summary(histogram: Histogram) -> Quantiles:
    """Return ``histogram`` in seconds; ``censored`` names the values that unfinished requests may raise."""
    censored = {name for name, q in QUANTILES.items() if histogram.is_censored(q)}
    if histogram.censored_count:
        censored |= {"mean", "max"}
    return Quantiles(
        count=histogram.count,
        mean=histogram.mean * _NS,
        **{name: histogram.quantile(q) * _NS for name, q in QUANTILES.items()},
        max=histogram.max * _NS,
        censored=frozenset(censored),
    )


def _merged(encoded: Iterable[bytes]) -> Histogram:
    total = Histogram()
    for part in encoded:
        total.merge(_decode(part))
    return total


def _decode(encoded: bytes) -> Histogram:
    try:
        return Histogram.from_bytes(encoded)
    except ValueError as error:
        raise InputError(f"a stored latency distribution is damaged: {error}") from error


_MOST_STEPS, _LEAST_STEP = 14, 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Values between two edges."""

    edge_s: float
    """Upper edge in seconds; the row begins where the one before ends."""
    count: int
    """Number of values."""
    share: float
    """Share of all values, 0 to 1."""
    cumulative: float
    """Share of all values up to the upper edge, 0 to 1."""


def edges(*distributions: Sequence[Bucket]) -> tuple[float, ...]:
    """Return the upper edges in seconds of rows that hold all values of ``distributions``; none without values.

    Steps are at least 2 % wide, so there are fewer of them where all values are alike.
    """
    ends = [(buckets[0].value_s, buckets[-1].value_s) for buckets in distributions if buckets]
    if not ends:
        return ()
    low, high = max(min(low for low, _ in ends), 1e-6), max(high for _, high in ends)
    step = max((high / low) ** (1 / _MOST_STEPS), _LEAST_STEP)
    upper = [low * step]
    while len(upper) < _MOST_STEPS and upper[-1] < high:
        upper.append(upper[-1] * step)
    return tuple(upper)


def rows(buckets: Sequence[Bucket], upper: Sequence[float]) -> tuple[Row, ...]:
    """Return one row per edge of ``upper``; values beyond the last edge belong to the last row."""
    counts = [0] * len(upper)
    for bucket in buckets:
        counts[min(bisect_left(upper, bucket.value_s), len(upper) - 1)] += bucket.count
    total = sum(counts) or 1
    return tuple(
        Row(edge_s=edge_s, count=count, share=count / total, cumulative=cumulative / total)
        for edge_s, count, cumulative in zip(upper, counts, accumulate(counts), strict=True)
    )


_TICKS_PER_HALF_DISTANCE = 5
_DIGITS = 3
_MS_PER_S = 1e3
_NS_PER_MS = 1e6

_SUB_BUCKETS = 2048
"""Smallest power of two that is at least twice 10^3, as three significant digits need."""
_BUCKETS = 32
"""Number of buckets, each twice as long as the one before, from 2048 ns to the longest value, one hour."""


def percentile_distribution(encoded: bytes) -> str:
    """Return the distribution in HdrHistogram's plain format, with header and footer, values in milliseconds.

    The scaling ratio is one million, nanoseconds to milliseconds. Values that are only lower bounds count at that
    bound; a comment line at the end gives their number.

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
    halvings: int = int(math.log2(100.0 / (100.0 - level))) + 1
    return level + 100.0 / (_TICKS_PER_HALF_DISTANCE << halvings)


def _moments(buckets: Sequence[Bucket], total: int) -> tuple[float, float]:
    if not total:
        return 0.0, 0.0
    middles = [(_middle_ns(round(bucket.value_s * 1e9)), bucket.count) for bucket in buckets]
    mean = sum(middle * count for middle, count in middles) / total
    spread = sum((middle - mean) ** 2 * count for middle, count in middles) / total
    return mean / _NS_PER_MS, math.sqrt(spread) / _NS_PER_MS


def _middle_ns(highest_ns: int) -> int:
    """Return the middle of the bucket that ends at ``highest_ns``; buckets up to 2047 ns hold one value each."""
    width = 1 << max(0, highest_ns.bit_length() - _SUB_BUCKETS.bit_length() + 1)
    return highest_ns - width + 1 + width // 2
