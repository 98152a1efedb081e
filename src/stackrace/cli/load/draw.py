"""Distributions and series as characters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.table import Table

from ...base.numbers import percent
from ...base.units import DURATION
from ...measure.engine.histogram import Row

__all__ = ["distribution", "meter", "sparkline"]

_EIGHTHS = " ▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"
_BAR_WIDTH = 40
_SPARK_WIDTH = 60


def meter(share: float, width: int) -> str:
    """Return a bar as long as ``share`` of ``width``, to an eighth of a character; never empty above zero.

    >>> meter(0.5, 4), meter(0.3, 4), meter(0.001, 4), meter(0, 4)
    ('██', '█▎', '▏', '')
    """
    eighths = max(round(8 * width * min(share, 1.0)), 1) if share > 0 else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")


def distribution(rows: Sequence[Row]) -> Table:
    """Return one line per row: its upper edge, a bar, its share, and the share of all up to its edge."""
    most = max((row.share for row in rows), default=0.0) or 1.0
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("", min_width=_BAR_WIDTH, style="cyan", no_wrap=True)
    table.add_column("share", justify="right")
    table.add_column("up to here", justify="right", style="dim")
    for row in rows:
        share = percent(row.share) if row.count else ""
        table.add_row(
            f"≤ {DURATION.format(row.edge_s)}",
            meter(row.share / most, _BAR_WIDTH),
            share,
            _cumulative(row.cumulative),
        )
    return table


def sparkline(values: Sequence[float], width: int = _SPARK_WIDTH) -> str:
    """Return ``values`` in order as a line of blocks from zero to the largest, neighbours averaged to ``width``.

    >>> sparkline([0, 1, 2, 4])
    '▁▃▅█'
    >>> sparkline([])
    ''
    """
    joined = _joined(values, width)
    most = max(joined, default=0.0)
    if most <= 0:
        return _HEIGHTS[0] * len(joined)
    return "".join(_HEIGHTS[round(value / most * (len(_HEIGHTS) - 1))] for value in joined)


def _joined(values: Sequence[float], width: int) -> list[float]:
    cells = min(len(values), width)
    ends = [len(values) * cell // cells for cell in range(cells + 1)] if cells else [0]
    return [sum(values[start:end]) / (end - start) for start, end in pairwise(ends)]


def _cumulative(share: float) -> str:
    """Only what is all of them is 100 %."""
    return "100 %" if share >= 1 else f"{100 * min(share, 0.99999):.{3 if share > 0.999 else 1}f} %"
