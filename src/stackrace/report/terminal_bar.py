"""A bar with its whisker in a handful of characters."""

from __future__ import annotations

import math

from ..race.results.standing import Interval

__all__ = ["bar"]


def bar(interval: Interval, most: float, width: int) -> str:
    """Return ``interval`` on the scale 0 … ``most`` as ``width`` characters.

    Solid up to the lower limit, a dot on the estimate, thin up to the upper limit.

    >>> bar(Interval(value=0.5, low=0.3, high=0.8), 1.0, 10)
    '━━├─●──┤  '
    >>> bar(Interval(value=0.5), 1.0, 10)
    '━━━━●     '
    """
    if not (most > 0 and math.isfinite(most) and math.isfinite(interval.value)):
        return " " * width
    point = _cell(interval.value, most, width)
    cells = ["━" if i < point else " " for i in range(width)]
    if interval.low is not None and interval.high is not None:
        low, high = _cell(interval.low, most, width), _cell(interval.high, most, width)
        cells[low:high] = "─" * (high - low)
        if low < point:
            cells[low] = "├"
        if high > point:
            cells[high] = "┤"
    cells[point] = "●"
    return "".join(cells)


def _cell(value: float, most: float, width: int) -> int:
    return min(width - 1, max(0, int(value / most * width - 1e-9)))
