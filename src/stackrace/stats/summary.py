"""One stack's own throughput: a geometric mean over its launches, with limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..base.numbers import Interval
from .limits import critical
from .logs import ratio_of
from .pairs import Array, trimmed, trimmed_from

__all__ = ["intervals"]

_CONFIDENCE = 0.95
"""The confidence of a stack's own limits. They hold each by itself, unlike those of the pairs."""


def intervals(values: Sequence[Sequence[float]] | Array, confidence: float = _CONFIDENCE) -> tuple[Interval, ...]:
    """Return each stack's exp(m ± t·√(ṽ/n)), from the trimmed mean over its n launches.

    m and v as in `trimmed`; ṽ = (d0·v̄ + df·v)/(d0 + df), d0 = K − 1. The t quantile has df = h − 1 degrees
    of freedom only: the stacks share each block's weather, so their variances may all err together, and the
    others' add none.

    ``values`` has shape (K, B): ln of the response, NaN where there is none. Limits are None with fewer than
    two launches. Raises ValueError when a stack has no launch at all.

    Source: Tukey & McLaughlin 1963, Sankhyā A 25; Smyth 2004; Georges, Buytaert & Eeckhout 2007,
    Statistically rigorous Java performance evaluation (launches, not requests, are the replicates).
    """
    rows = [row[np.isfinite(row)] for row in np.asarray(values, dtype=float)]
    trims = [trimmed(row) for row in rows]
    df = np.array([trimmed_from(len(row)) - 1 if len(row) > 1 else 0 for row in rows])
    own = np.array([variance if many else 0.0 for (_, variance), many in zip(trims, df, strict=True)])
    pooled = float(df @ own / df.sum()) if df.any() else 0.0
    prior = len(rows) - 1
    return tuple(
        _interval(float(m), (prior * pooled + d * v) / max(prior + d, 1), len(row), int(d), confidence)
        for (m, _), v, d, row in zip(trims, own, df, rows, strict=True)
    )


def _interval(mean: float, variance: float, n: int, df: int, confidence: float) -> Interval:
    half = critical(2, df, 1 - confidence) * float(np.sqrt(variance / n)) if df > 0 else math.inf
    return ratio_of(mean, half)
