"""Latency distributions as the engine encodes them: merged, summed up, drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stackrace.base.errors import InputError
from stackrace.measure.load import Quantiles

from ._engine import Histogram

__all__ = ["QUANTILES", "Bucket", "censored_count", "distribution", "merge", "quantiles", "slow", "summary"]

_NS = 1e-9
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""The fields of ``Quantiles`` that are quantiles, and which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Latencies that are alike: buckets are 0.1 % wide."""

    value_s: float
    """The longest latency that belongs to it, in seconds; the bucket before ends where it begins."""
    count: int
    """How many latencies it holds, at least 1."""


def merge(encoded: Iterable[bytes]) -> bytes:
    """Return one encoded distribution that holds all values of ``encoded``; empty when there are none."""
    return _merged(encoded).to_bytes()


def quantiles(encoded: Iterable[bytes]) -> Quantiles:
    """Return the quantiles in seconds of all values of ``encoded`` together; InputError if one is damaged."""
    return summary(_merged(encoded))


def distribution(encoded: bytes) -> tuple[Bucket, ...]:
    """Return the buckets of one encoded distribution that are not empty, ascending, to draw it."""
    return tuple(Bucket(value_s=value * _NS, count=count) for value, count in _decode(encoded).buckets())


def slow(encoded: bytes, above_s: float = 0.5) -> tuple[tuple[float, int], ...]:
    """Return the latencies of one encoded distribution above ``above_s``: pairs of seconds and their number.

    Without those that are only lower bounds, because a request was cut off or unfinished.
    """
    known = ((value * _NS, count) for value, count in _decode(encoded).known_buckets())
    return tuple((value_s, count) for value_s, count in known if value_s > above_s)


def censored_count(encoded: bytes) -> int:
    """Return how many values of one encoded distribution are only lower bounds."""
    return _decode(encoded).censored_count


def summary(histogram: Histogram) -> Quantiles:
    """Return ``histogram`` in seconds; names in ``censored`` are those that unfinished requests may raise."""
    censored = {name for name, q in QUANTILES.items() if histogram.is_censored(q)}
    if histogram.censored_count:
        censored |= {"mean", "max"}
    return Quantiles(
        count=histogram.count,
        mean=histogram.mean * _NS,
        p50=histogram.quantile(0.5) * _NS,
        p90=histogram.quantile(0.9) * _NS,
        p99=histogram.quantile(0.99) * _NS,
        p999=histogram.quantile(0.999) * _NS,
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
