"""How throughput grows with the connections, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from ..model.scaling import ScalingCurve
from .clean import one_line
from .terminal_table import Column, drawn
from .words.scaling import HEADER, cells, unfits

__all__ = ["ScalingTable", "scaling_table"]


def scaling_table(curves: Sequence[ScalingCurve]) -> Iterator[RenderableType]:
    """Yield the table, then why laws are missing from it."""
    yield ScalingTable(curves)
    for line in unfits(curves):
        yield Text(one_line(line), style="dim")


class ScalingTable:
    """Renders a line per curve: its knee and, where one was fitted, its law."""

    def __init__(self, curves: Sequence[ScalingCurve]) -> None:
        self._curves = curves

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw in the width there is, without the law's columns where no law was fitted."""
        rows = [cells(curve) for curve in self._curves]
        shown = len(HEADER) if any(curve.law for curve in self._curves) else 2
        columns = [
            Column(
                title=HEADER[i], keep=0 if i < 2 else i, left=i == 0, cells=tuple(one_line(row[i]) for row in rows)
            )
            for i in range(shown)
        ]
        yield drawn(columns, options.max_width, lambda column, place: "")
