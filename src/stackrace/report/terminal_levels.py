"""The levels beside the headline as two small matrices: throughput and latency, stacks by levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..model.standing import Level, Row
from . import figures
from .paths import fold
from .terminal_table import GAP, NARROWEST_PATH

__all__ = ["LevelsMatrix", "groups"]


def groups(levels: Sequence[Level]) -> list[tuple[Level, ...]]:
    """Return the levels as matrices show them: all in one, or one workload each where there are several loads."""
    if len({level.load.label for level in levels}) == 1:
        return [tuple(levels)]
    names = dict.fromkeys(level.workload for level in levels)
    return [tuple(level for level in levels if level.workload == name) for name in names]


class LevelsMatrix:
    """Renders one figure of every row, a line per stack, a column per level.

    ``*`` marks the first tier, unless the race is ``void``.
    """

    def __init__(
        self, title: str, levels: Sequence[Level], figure: Callable[[Row], str], *, void: bool = False
    ) -> None:
        workloads = {level.workload for level in levels}
        self._title = title + (f" on {levels[0].workload}" if len(workloads) == 1 and levels[0].workload else "")
        self._loads = {level.load.label for level in levels}
        self._levels = levels
        self._figure = figure
        self._void = void

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many levels as fit, the first ones first, and say how many did not."""
        stacks = list(dict.fromkeys(row.stack for level in self._levels for row in level.rows))
        columns = [(self._heading(one), [self._text(one, stack) for stack in stacks]) for one in self._levels]
        widths = [max(len(text) for text in (title, *texts)) + GAP for title, texts in columns]
        shown = len(columns)
        while shown > 1 and sum(widths[:shown]) + NARROWEST_PATH > options.max_width:
            shown -= 1
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
        table.add_column(Text(self._title), no_wrap=True)
        for title, _ in columns[:shown]:
            table.add_column(Text(title), justify="right", no_wrap=True)
        room = max(NARROWEST_PATH, options.max_width - sum(widths[:shown]))
        for place, stack in enumerate(stacks):
            table.add_row(Text(fold(stack, room)), *(Text(texts[place]) for _, texts in columns[:shown]))
        yield table
        if shown < len(columns):
            yield Text(f"{len(columns) - shown} more levels need a wider terminal.", style="dim")

    def _heading(self, level: Level) -> str:
        """Name the level by what tells it from its neighbours: the load, or else the workload."""
        return level.workload if len(self._loads) == 1 and level.workload else level.load.label

    def _text(self, level: Level, stack: str) -> str:
        for row in level.rows:
            if row.stack == stack:
                text = self._figure(row)
                return text + ("*" if row.tier == 1 and not self._void and text != figures.NOTHING else " ")
        return f"{figures.NOTHING} "
