"""Quantiles as the engine and the known-delay server define them: a value that was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence


def of_sorted(values: Sequence[float], q: float) -> float:
    """Return the smallest of ascending ``values`` that at least the fraction ``q`` of them do not exceed."""
    if not values:
        raise ValueError("there are no values")
    return values[max(0, math.ceil(q * len(values)) - 1)]
