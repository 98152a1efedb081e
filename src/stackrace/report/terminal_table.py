"""Tables in the terminal: long paths are folded, then less important columns left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as Grid
from rich.text import Text

from ..base.text import one_line
from .paths import fold
from .sheet import Column, Medium, Table, Tone

__all__ = [
    "STYLES",
    "ScreenTable",
]

_GAP = 2
_NARROWEST_PATH = 16

STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.ASIDE: "dim",
    Tone.ALARM: "bold red",
    Tone.WRONG: "red",
    Tone.REDONE: "yellow",
    Tone.DOUBTFUL: "yellow",
    Tone.GOOD: "green",
    Tone.OTHER: "blue",
}


class ScreenTable:
    """Renders ``table`` in the width there is; ``lines`` are all that its rows may take, 0 what they need."""

    def __init__(self, table: Table, *, lines: int = 0) -> None:
        self._table = table
        self._lines = lines

    def within(self, lines: int) -> ScreenTable:
        """Return it in ``lines`` with its header, but with a line for each row."""
        return ScreenTable(self._table, lines=max(lines - 1, 1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose the columns, give the paths all the room that is left, and draw."""
        columns = [part for column in self._table.on(Medium.SCREEN) for part in _parts(column)]
        kept = _fit(columns, options.max_width)
        yield _grid(kept, options.max_width, self._lines)
        if self._table.beyond and len(kept) < len(columns):
            yield Text(self._table.beyond.format(len(columns) - len(kept)), style="dim")


def _fit(columns: Sequence[Column], width: int) -> list[Column]:
    """Return ``columns`` without those that must go for the others to be ``width`` wide together."""
    kept = list(columns)
    while sum(_width(column) + _GAP for column in kept) - _GAP > width:
        droppable = [column for column in kept if column.keep]
        if not droppable:
            break
        kept.remove(min(droppable, key=lambda column: column.keep))
    return kept


def _parts(column: Column) -> Iterator[Column]:
    """Yield the column, and its notes where those have one of their own."""
    title = column.title if column.short is None else column.short
    if column.notes_keep is None:
        yield replace(column, title=title)
        return
    yield replace(column, title=title, notes=())
    if any(column.notes):
        yield Column(title="low–high", cells=column.notes, keep=column.notes_keep, left=True, tone=Tone.ASIDE)


def _width(column: Column) -> int:
    """Return the widest cell or the title; of a path what it takes folded."""
    if column.wraps:
        return column.wraps[0]
    widest = max(Text(text).cell_len for text in (column.title, *map(str, _texts(column))))
    return min(widest, column.fold_to) if column.fold_to else widest


def _texts(column: Column) -> list[Text]:
    """Return the cells with their notes."""
    texts = []
    cells = zip(column.cells, column.cell_notes, column.cell_tones, strict=True)
    for place, (cell, note, tone) in enumerate(cells):
        text = Text(one_line(cell) if column.left else cell, style=STYLES[tone])
        if note:
            text.append(column.join.format(one_line(note)), style="dim" if column.wraps else "")
        texts.append(Text() if column.once and place and column.cells[place - 1] == cell else text)
    return texts


def _grid(columns: Sequence[Column], width: int, lines: int) -> Grid:
    room = width - sum(_width(column) + _GAP for column in columns if not column.fold_to)
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for column in columns:
        least, share = column.wraps or (None, None)
        grid.add_column(Text(one_line(column.title)), justify="left" if column.left else "right", min_width=least,
                        ratio=share, no_wrap=not column.wraps, style=STYLES[column.tone])  # fmt: skip
    cells = [_folded(column, room, lines) if column.fold_to else _texts(column) for column in columns]
    for row in zip(*cells, strict=True):
        grid.add_row(*row)
    return grid


def _folded(column: Column, room: int, lines: int) -> list[Text]:
    """Return the paths folded to ``room``, on ``lines`` lines together at most; 0 for as many as it takes."""
    width = max(_NARROWEST_PATH, room)
    beside = [column.join.format(note) if note else "" for note in column.cell_notes]
    paths = [
        fold(path, max(_NARROWEST_PATH, width - len(note))) for path, note in zip(column.cells, beside, strict=True)
    ]
    texts = []
    for path, note, tone in zip(_cut(paths, lines), beside, column.cell_tones, strict=True):
        text = Text(path, style=STYLES[tone])
        texts.append(text.append(note, style="dim") if note else text)
    return texts


def _cut(paths: Sequence[str], lines: int) -> list[str]:
    """Return folded ``paths`` with at most ``lines`` lines in all, the longest cut first; each keeps one."""
    heights = [path.count("\n") + 1 for path in paths]
    most = max(heights, default=1)
    while lines and most > 1 and sum(min(height, most) for height in heights) > lines:
        most -= 1
    return [
        path if height <= most else "\n".join(path.split("\n")[:most])[:-1] + "…"
        for path, height in zip(paths, heights, strict=True)
    ]
