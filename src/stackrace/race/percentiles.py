"""Percentiles of latency with limits: the launch is the replicate here, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..base.interval import Interval
from ..measure.launch import Launch, Slice
from ..stats.buckets import Buckets, on_common_buckets
from ..stats.percentiles import quantile_interval

__all__ = ["LEAST_BEYOND", "LIMITED", "Spread", "latency_limits"]

LIMITED = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
"""The quantiles that are given limits."""

LEAST_BEYOND = 10
"""Requests of all launches together that must lie beyond a quantile for it to be known: p99 takes 1,000."""

Spread = Callable[[bytes], Buckets]
"""Returns the buckets of one encoded latency histogram."""


def latency_limits(
    slices: Sequence[Slice], launches: Sequence[Launch], spread: Spread
) -> dict[str, Interval | None]:
    """Return one stack's quantiles at one level in seconds with 95 % limits; None where requests are too few.

    ``slices`` are the valid ones, taken on some of ``launches``. Empty where a slice has no histogram. See
    `stats.percentiles` for when one launch is enough for a quantile.
    """
    groups = _by_launch(slices, launches)
    if not groups or not all(slice_.result.histogram for group in groups for slice_ in group):
        return {}
    buckets = [[pair for slice_ in group for pair in spread(slice_.result.histogram)] for group in groups]
    values, counts = on_common_buckets(buckets)
    total = float(counts.sum())
    return {
        name: quantile_interval(values, counts, q) if total * (1 - q) >= LEAST_BEYOND else None
        for name, q in LIMITED.items()
    }


def _by_launch(slices: Sequence[Slice], launches: Sequence[Launch]) -> list[list[Slice]]:
    wanted = {id(slice_) for slice_ in slices}
    groups = ([slice_ for slice_ in launch.slices if id(slice_) in wanted] for launch in launches)
    return [group for group in groups if group]
