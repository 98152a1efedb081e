"""The standing of one level as a table: long paths are folded, then less important columns dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..model.standing import Interval, Level, Row
from . import figures
from .clean import one_line
from .paths import fold
from .terminal_bar import bar

__all__ = ["Column", "LevelTable", "drawn", "fit"]

GAP = 2
BAR = 10
NARROWEST_PATH = 16
READABLE_PATH = 30
"""A path may be folded to this width before a column is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its cells as text. The lowest ``keep`` is dropped first; 0 is never dropped."""

    title: str
    cells: tuple[str, ...]
    keep: int = 0
    left: bool = False
    style: str = ""

    @property
    def width(self) -> int:
        """The widest cell or the title; of a path what it takes folded."""
        widest = max(Text(text).cell_len for text in (self.title, *self.cells))
        return min(widest, READABLE_PATH) if self.title == "stack" else widest


def fit(columns: Sequence[Column], width: int) -> list[Column]:
    """Return ``columns`` without those that must go for the others to be ``width`` wide together."""
    kept = list(columns)
    while sum(column.width + GAP for column in kept) - GAP > width:
        droppable = [column for column in kept if column.keep]
        if not droppable:
            break
        kept.remove(min(droppable, key=lambda column: column.keep))
    return kept


def _beside_path(columns: Sequence[Column]) -> int:
    return sum(column.width + GAP for column in columns if column.title != "stack")


class LevelTable:
    """Renders ``level`` in the width there is; of a void race nobody stands out."""

    def __init__(self, level: Level, *, void: bool = False) -> None:
        self._level = level
        self._void = void

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose the columns, give the paths all the room that is left, and draw."""
        rows = self._level.rows
        yield drawn(_columns(rows), options.max_width, lambda column, place: self._style(column, rows[place]))

    def _style(self, column: Column, row: Row) -> str:
        if column.title == "stack":
            return "bold" if row.tier == 1 and not self._void else ""
        if column.title == "errors" and row.errors:
            return "red"
        return "blue" if column.title == "" and (row.tier > 1 or self._void) else ""


def drawn(columns: Sequence[Column], width: int, style: Callable[[Column, int], str]) -> Table:
    """Return the columns that fit as a table, its paths folded; ``style`` is that of a cell by its row's number."""
    kept = fit(columns, width)
    room = max(NARROWEST_PATH, width - _beside_path(kept))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    for column in kept:
        table.add_column(Text(column.title), justify="left" if column.left else "right", no_wrap=True,
                         style=column.style)  # fmt: skip
    for place in range(len(kept[0].cells)):
        texts = ((column, column.cells[place]) for column in kept)
        table.add_row(*(Text(fold(t, room) if c.title == "stack" else t, style=style(c, place)) for c, t in texts))
    return table


def _columns(rows: Sequence[Row]) -> list[Column]:
    most = max((row.ratio.high or row.ratio.value for row in rows), default=1.0)
    bars = tuple(bar(row.ratio, most, BAR) for row in rows)
    memory = tuple(figures.mebibytes(sum(row.memory_bytes.values())) for row in rows)
    columns = [
        Column(title="tier", cells=_tiers(rows)),
        Column(title="stack", cells=tuple(one_line(row.stack) for row in rows), left=True),
        Column(title="req/s", cells=tuple(figures.number(r.throughput_per_s.value) for r in rows)),
        Column(title="low–high", keep=4, left=True, style="dim",
               cells=tuple(figures.limits(r.throughput_per_s, figures.number) for r in rows)),
        Column(title="vs leader, 95 %", left=True, cells=_ratios(rows)),
        Column(title="", keep=9, left=True, style="green", cells=bars),
        Column(title="p50", keep=6, cells=tuple(figures.quantile(r.latency, "p50") for r in rows)),
        Column(title="p99", keep=10, cells=tuple(figures.percentile(r, "p99") for r in rows)),
        Column(title="low–high", keep=3, left=True, style="dim",
               cells=tuple(figures.percentile_limits(r, "p99") for r in rows)),
        Column(title="longest", keep=5, cells=tuple(figures.quantile(r.latency, "max") for r in rows)),
        Column(title="errors", keep=0 if any(r.errors for r in rows) else 2,
               cells=tuple(figures.count(r.errors) for r in rows)),
        Column(title="CPU ms/req", keep=8, cells=tuple(_total(r) for r in rows)),
        Column(title="by hop", keep=1, left=True, style="dim", cells=tuple(_by_hop(r) for r in rows)),
        Column(title="MiB", keep=7, cells=memory),
        Column(title="launches", keep=1, cells=tuple(str(r.launches) for r in rows)),
    ]  # fmt: skip
    return [column for column in columns if any(column.cells) or column.title == ""]


def _tiers(rows: Sequence[Row]) -> tuple[str, ...]:
    """Name each tier once: rows without a number belong to the one above."""
    before = [0, *(row.tier for row in rows)]
    pairs = zip(rows, before, strict=False)
    return tuple("" if row.tier == previous else str(row.tier) for row, previous in pairs)


def _ratios(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(_ratio(row.ratio) for row in rows)


def _ratio(ratio: Interval) -> str:
    text = figures.limits(ratio, figures.number)
    return figures.number(ratio.value) + (f" ({text})" if text else "")


def _total(row: Row) -> str:
    return figures.number(sum(row.cpu_ms_per_request.values())) if row.cpu_ms_per_request else figures.NOTHING


def _by_hop(row: Row) -> str:
    costs = row.cpu_ms_per_request if len(row.cpu_ms_per_request) > 1 else {}
    return ", ".join(f"{one_line(hop)} {figures.number(ms)}" for hop, ms in costs.items())
