"""Latency histograms of several launches, put on common buckets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .pairs import Array

__all__ = ["Buckets", "on_common_buckets"]

Buckets = Sequence[tuple[float, int]]
"""Upper value in seconds and count of each bucket that is not empty."""


def on_common_buckets(launches: Sequence[Buckets]) -> tuple[Array, Array]:
    """Return the rising values (V,) of all buckets that occur, and the counts (B, V) of each launch in them.

    ``launches`` has B ≥ 1 histograms of the same resolution: their buckets have the same bounds wherever both have
    any. A bucket that stands twice in a launch has the sum of its counts.
    """
    values = np.unique(np.array([value for buckets in launches for value, _ in buckets], dtype=float))
    counts = np.zeros((len(launches), len(values)))
    for row, buckets in zip(counts, launches, strict=True):
        places = np.searchsorted(values, [value for value, _ in buckets])
        np.add.at(row, places, [count for _, count in buckets])
    return values, counts
