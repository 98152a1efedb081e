"""Charts in a line of characters: a bar with its whisker, a meter, a series of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from ..base.numbers import Interval

_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_MOST_HEIGHTS = 24
_SPARK_WIDTH = 60


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
    point = _column_of(interval.value, most, width)
    cells = ["━" if i < point else " " for i in range(width)]
    if interval.low is not None and interval.high is not None:
        low, high = _column_of(interval.low, most, width), _column_of(interval.high, most, width)
        cells[low:high] = "─" * (high - low)
        if low < point:
            cells[low] = "├"
        if high > point:
            cells[high] = "┤"
    cells[point] = "●"
    return "".join(cells)


def _column_of(value: float, most: float, width: int) -> int:
    return min(width - 1, max(0, int(value / most * width - 1e-9)))


def meter(share: float, width: int) -> str:
    """Return a bar as long as ``share`` of ``width``, to an eighth of a character; never empty above zero.

    >>> meter(0.5, 4), meter(0.3, 4), meter(0.001, 4), meter(0, 4)
    ('██', '█▎', '▏', '')
    """
    eighths = max(round(8 * width * min(share, 1.0)), 1) if share > 0 else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def sparkline(values: Sequence[float], width: int = _SPARK_WIDTH) -> str:
    """Return ``values`` in order as a line of blocks from zero to the largest, neighbours averaged to ``width``.

    >>> sparkline([0, 1, 2, 4])
    '▁▃▅█'
    >>> sparkline([])
    ''
    """
    joined = _averaged(values, width)
    most = max(joined, default=0.0)
    if most <= 0:
        return _HEIGHTS[0] * len(joined)
    return "".join(_HEIGHTS[round(value / most * (len(_HEIGHTS) - 1))] for value in joined)


def _averaged(values: Sequence[float], width: int) -> list[float]:
    cells = min(len(values), width)
    ends = [len(values) * cell // cells for cell in range(cells + 1)] if cells else [0]
    return [sum(values[start:end]) / (end - start) for start, end in pairwise(ends)]


def course(values: Sequence[float], most: float | None = None) -> str:
    """Return ``values`` as blocks from zero to ``most``, the highest of each group: no peak is lost.

    >>> course([1, 2, 4])
    '▃▅█'
    """
    step = -(-len(values) // _MOST_HEIGHTS) or 1
    heights = [max(values[i : i + step]) for i in range(0, len(values), step)]
    top = most or max(heights, default=0) or 1
    return "".join(_HEIGHTS[min(len(_HEIGHTS) - 1, int(height * len(_HEIGHTS) / top))] for height in heights)
