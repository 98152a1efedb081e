"""Percentiles of latency with limits: the launch is the replicate here, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.launch import Launch, Slice
from ..model.standing import Interval
from ..stats.buckets import Buckets, on_common_buckets
from ..stats.percentiles import quantile_interval

__all__ = ["LEAST_BEYOND", "LIMITED", "Spread", "latency_limits"]

LIMITED = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
"""The quantiles that are given limits."""

LEAST_BEYOND = 10
"""Requests of all launches together that must lie beyond a quantile for it to be told: p99 takes 1,000."""

Spread = Callable[[bytes], Buckets]
"""Returns the buckets of one encoded latency histogram."""


def latency_limits(
    slices: Sequence[Slice], launches: Sequence[Launch], spread: Spread
) -> dict[str, Interval | None]:
    """Return one stack's quantiles at one level in seconds with 95 % limits; None where too few requests tell one.

    ``slices`` are the valid ones, taken on some of ``launches``. Empty where a slice has no histogram, as those of
    early versions. See `stats.percentiles` for when a launch tells a quantile by itself.
    """
    groups = _by_launch(slices, launches)
    if not groups or not all(one.result.histogram for group in groups for one in group):
        return {}
    seen = [[pair for one in group for pair in spread(one.result.histogram)] for group in groups]
    values, counts = on_common_buckets(seen)
    total = float(counts.sum())
    return {
        name: quantile_interval(values, counts, q) if total * (1 - q) >= LEAST_BEYOND else None
        for name, q in LIMITED.items()
    }


def _by_launch(slices: Sequence[Slice], launches: Sequence[Launch]) -> list[list[Slice]]:
    wanted = {id(one) for one in slices}
    groups = ([one for one in launch.slices if id(one) in wanted] for launch in launches)
    return [group for group in groups if group]
