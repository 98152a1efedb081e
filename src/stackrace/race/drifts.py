"""Whether the stacks got faster or slower in the course of a race: all together, or one beside the others. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from ..stats.drift import drift
from ..validity.races import ThroughputDrift
from .levels import MeasuredLevel

__all__ = ["drift_of_each", "drift_of_mean", "means", "steady"]


def drift_of_mean(level: MeasuredLevel) -> ThroughputDrift | None:
    """Return the drift of the stacks that were measured in most blocks, in the mean; None where nothing tells."""
    return _drifted(means(steady(level)))


def drift_of_each(level: MeasuredLevel) -> Iterator[tuple[str, ThroughputDrift]]:
    """Give the drift of each of these stacks beside the mean of the others."""
    alike = steady(level)
    for stack, own in alike.items():
        others = {name: values for name, values in alike.items() if name != stack}
        if others:
            drifted = _drifted([a - b for a, b in zip(own, means(others), strict=True)], alpha=0.05 / len(alike))
            if drifted is not None:
                yield stack, drifted


def steady(level: MeasuredLevel) -> dict[str, Sequence[float]]:
    """Return the values of the stacks that were measured in most blocks, the twin with its original.

    Blocks in which one of them has none are NaN in all, so that no stack's absence looks like drift.
    """
    most = max((sum(map(math.isfinite, values)) for values in level.values), default=0)
    by_stack = zip(level.stacks, level.values, strict=True)
    return {stack: values for stack, values in by_stack if sum(map(math.isfinite, values)) == most}


def means(values: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the mean over the stacks, block by block."""
    return [fmean(block) for block in zip(*values.values(), strict=True)]  # NaN where one of them has none


def _drifted(values: Sequence[float], alpha: float = 0.05) -> ThroughputDrift | None:
    limits = drift(values, alpha=alpha)
    return None if limits is None else ThroughputDrift(value=limits.value, low=limits.low, high=limits.high)
