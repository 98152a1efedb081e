"""Draws a report in the terminal, in the available width."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from ..base.text import one_line, printable, tail
from .exporter import STANDING, result_of
from .paths import fold
from .sheet import (
    Block,
    Column,
    Drawing,
    Item,
    Listing,
    Medium,
    Notes,
    Paragraph,
    Section,
    Source,
    Table,
    Tone,
    shown,
)

if TYPE_CHECKING:
    from ..race.results.race import Race
    from ..race.results.standing import Standing

_PIPE_WIDTH = 120
"""Columns for a pipe, unless COLUMNS sets them."""

_LOG_LINES = 6

_SCREEN_LINES = 28
"""Lines of a report in brief: 32, less a blank one, the page's address and two next steps."""

_LEAST_WIDTH = 100
"""Columns of the narrowest screen on which a report in brief keeps its number of lines."""

_MARKS = {Tone.WRONG: "✗", Tone.REDONE: "↻", Tone.DOUBTFUL: "!"}


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> Console:
    """Return a console on ``stream`` (default stdout) that replaces characters that the stream cannot write.

    Colour follows NO_COLOR and whether ``stream`` is a terminal; COLUMNS sets the width of a pipe.
    """
    out = stream or sys.stdout
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    if width is None and not out.isatty() and "COLUMNS" not in os.environ:
        width = _PIPE_WIDTH
    coloured = out.isatty() and "NO_COLOR" not in os.environ
    return _PrintableConsole(
        file=getattr(out, "trusted", out), width=width, highlight=False, markup=False, emoji=False,
        color_system="auto" if coloured else None,
    )  # fmt: skip


class _PrintableConsole(Console):
    """Console that draws our styles, and foreign text as text: the command line's stdout takes neither."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of ``renderable``; only rich's own control sequences stay control sequences."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text, words=False), segment.style)


def print_report(
    race: Race, standing: Standing | None, console: Console | None = None, *, details: bool = False
) -> None:
    """Print the report of a race on ``console`` (default: stdout): on one screen, or with all ``details``."""
    kind, result = result_of(race, standing)
    if details or kind is not STANDING or standing is None:
        print_sections(kind.sections(result), console)
    else:
        # imported here: it loads the statistics, which most reports do not need
        from .race_sheet import brief_sheet

        print_sections(brief_sheet(race, standing), console, most=_SCREEN_LINES)


def print_sections(
    sections: Iterable[Section], console: Console | None = None, *, most: int = 0, width: int | None = None
) -> None:
    """Print ``sections`` on ``console`` (default: stdout), at most ``width`` columns wide; see ``drawn``."""
    console = console or make_console()
    # unwrapped lines must not be cropped either
    console.print(_drawn(sections, most=most), width=min(console.width, width or console.width), crop=False)


def _drawn(sections: Iterable[Section], *, most: int = 0) -> RenderableType:
    """Return ``sections`` with blank lines between them; they adapt to the width of the screen.

    A table shortens its paths if the whole has more lines than ``most``; 0: never.
    """
    parts: list[RenderableType] = []
    for section in shown(sections, Medium.SCREEN):
        parts += [Text()] if parts else []
        parts += [Text(one_line(section.title), style="bold")] if section.title else []
        parts += [part for block in section.blocks for part in _block(block)]
    return _Trimmed(parts, most)


class _Trimmed:
    def __init__(self, parts: Sequence[RenderableType], most: int) -> None:
        self._parts = parts
        self._most = most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = self._parts
        if self._most:
            rest = [part for part in parts if not isinstance(part, ScreenTable)]
            room = self._most - len(console.render_lines(Group(*rest), options, pad=False))
            parts = [part.within(room) if isinstance(part, ScreenTable) else part for part in parts]
        for part in parts:
            if isinstance(part, Text) and part.no_wrap:
                yield part
                continue
            for segments in console.render_lines(part, options, pad=False):
                line = Text.assemble(*((each.text, each.style or "") for each in segments), no_wrap=True)
                line.rstrip()
                yield line


class _Cut:
    """Text in at most ``lines`` lines on a screen of 100 columns; 0: the whole text."""

    def __init__(self, text: Text, lines: int, *, indent: int = 0) -> None:
        self._text, self._lines, self._indent = text, lines, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width, _LEAST_WIDTH - self._indent)
        wrapped = self._text.wrap(console, width)
        if not 0 < self._lines < len(wrapped):
            yield self._text
            return
        *whole, last = wrapped[: self._lines]
        last.rstrip()
        last.truncate(width - 1)
        yield Text(" ").join([*whole, last.append("…")])


def _block(block: Block) -> Iterator[RenderableType]:
    match block:
        case Paragraph(whole=True):
            text = " " * block.indent + " ".join(printable(block.text).splitlines())
            yield Text(text, style=_STYLES[block.tone], no_wrap=True, overflow="ignore")
        case Paragraph():
            words = _Cut(Text(one_line(block.text), style=_STYLES[block.tone]), block.lines)
            yield Padding(words, (0, 0, 0, block.indent)) if block.indent else words
        case Notes(texts=texts):
            yield from (Text(one_line(text), style="dim") for text in texts)
        case Listing(items=items):
            yield from map(_item, items)
        case Table():
            yield ScreenTable(block)
        case Drawing(lines=lines):
            yield from (Text(printable(line)) for line in lines)
        case Source(command=command):
            yield Text(one_line(command))


def _item(item: Item) -> RenderableType:
    """Return a grid with the text beside its mark, and its further lines below."""
    line = Text().append(one_line(item.lead), style="bold").append(item.join + one_line(item.text))
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(_MARKS.get(item.tone, "-"), style=_STYLES[item.tone]), _Cut(line, item.lines, indent=2))
    for text in tail(item.log, _LOG_LINES):
        grid.add_row("", Text(f"  {text}", style="dim", no_wrap=True, overflow="ellipsis"))
    if item.remedy:
        grid.add_row("", Text(f"→ {one_line(item.remedy)}"))
    for text in item.inner:
        grid.add_row("", Text(one_line(text), style="dim"))
    return grid


_GAP = 2
_NARROWEST_PATH = 16

_STYLES = {
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
    """Table in the available width, its rows in at most ``lines`` lines, 0 for as many as they need."""

    def __init__(self, table: Table, *, lines: int = 0) -> None:
        self._table = table
        self._lines = lines

    def within(self, lines: int) -> ScreenTable:
        """Return the table in ``lines`` lines with its header, but at least one line for each row."""
        return ScreenTable(self._table, lines=max(lines - 1, 1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose the columns, give the paths all the remaining width, and draw."""
        columns = [part for column in self._table.on(Medium.SCREEN) for part in _parts(column)]
        kept = _fit(columns, options.max_width)
        yield _grid(kept, options.max_width, self._lines)


def _fit(columns: Sequence[Column], width: int) -> list[Column]:
    """Return ``columns`` without those that do not fit into ``width``."""
    kept = list(columns)
    while sum(_width(column) + _GAP for column in kept) - _GAP > width:
        droppable = [column for column in kept if column.keep]
        if not droppable:
            break
        kept.remove(min(droppable, key=lambda column: column.keep))
    return kept


def _parts(column: Column) -> Iterator[Column]:
    title = column.title if column.short is None else column.short
    if column.notes_keep is None:
        yield replace(column, title=title)
        return
    yield replace(column, title=title, notes=())
    if any(column.notes):
        yield Column(title="low–high", cells=column.notes, keep=column.notes_keep, left=True, tone=Tone.ASIDE)


def _width(column: Column) -> int:
    if column.wraps:
        return column.wraps[0]
    widest = max(column.least, *(Text(text).cell_len for text in (column.title, *map(str, _texts(column)))))
    return min(widest, column.fold_to) if column.fold_to else widest


def _texts(column: Column) -> list[Text]:
    texts = []
    cells = zip(column.cells, column.cell_notes, column.cell_tones, strict=True)
    for index, (cell, note, tone) in enumerate(cells):
        text = Text(one_line(cell) if column.left else cell, style=_STYLES[tone])
        if note:
            text.append(column.join.format(one_line(note)), style="dim" if column.wraps else "")
        texts.append(Text() if column.once and index and column.cells[index - 1] == cell else text)
    return texts


def _grid(columns: Sequence[Column], width: int, lines: int) -> Grid:
    room = width - sum(_width(column) + _GAP for column in columns if not column.fold_to)
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for column in columns:
        least, share = column.wraps or (column.least or None, None)
        grid.add_column(Text(one_line(column.title)), justify="left" if column.left else "right", min_width=least,
                        ratio=share, no_wrap=not column.wraps, style=_STYLES[column.tone])  # fmt: skip
    cells = [_folded(column, room, lines) if column.fold_to else _texts(column) for column in columns]
    for row in zip(*cells, strict=True):
        grid.add_row(*row)
    return grid


def _folded(column: Column, room: int, lines: int) -> list[Text]:
    """Return the paths folded to ``room``, with at most ``lines`` lines together; 0 for as many as they need."""
    width = max(_NARROWEST_PATH, room)
    rest = [column.join.format(note) if note else "" for note in column.cell_notes]
    paths = [
        fold(path, max(_NARROWEST_PATH, width - len(note))) for path, note in zip(column.cells, rest, strict=True)
    ]
    texts = []
    for path, note, tone in zip(_cut(paths, lines), rest, column.cell_tones, strict=True):
        text = Text(path, style=_STYLES[tone])
        texts.append(text.append(note, style="dim") if note else text)
    return texts


def _cut(paths: Sequence[str], lines: int) -> list[str]:
    """Return folded ``paths`` with at most ``lines`` lines together, the longest ones cut first; each keeps one."""
    heights = [path.count("\n") + 1 for path in paths]
    most = max(heights, default=1)
    while lines and most > 1 and sum(min(height, most) for height in heights) > lines:
        most -= 1
    return [
        path if height <= most else "\n".join(path.split("\n")[:most])[:-1] + "…"
        for path, height in zip(paths, heights, strict=True)
    ]
