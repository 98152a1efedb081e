"""Memory over time at the headline level, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult

from . import figures
from .clean import one_line
from .growth import Growth
from .terminal_table import Column, drawn

__all__ = ["MemoryTable"]


class MemoryTable:
    """Renders a line per stack: MiB at the start and end of its runs, the peak, and the longest run as a curve."""

    def __init__(self, growths: Sequence[Growth]) -> None:
        self._growths = growths

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw in the width there is."""
        yield drawn(_columns(self._growths), options.max_width, lambda column, place: "")


def _columns(growths: Sequence[Growth]) -> list[Column]:
    return [
        Column(title="stack", cells=tuple(one_line(one.stack) for one in growths), left=True),
        Column(title="start MiB", cells=tuple(figures.mebibytes(one.start_bytes) for one in growths)),
        Column(title="end", cells=tuple(figures.mebibytes(one.end_bytes) for one in growths)),
        Column(title="peak", cells=tuple(figures.mebibytes(one.peak_bytes) for one in growths)),
        Column(title="over", keep=2, cells=tuple(figures.duration(one.span_s) for one in growths)),
        Column(title="", keep=1, left=True, style="green", cells=tuple(one.curve for one in growths)),
    ]
