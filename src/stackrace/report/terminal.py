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
from .exporter import result_of
from .first_screen import first_screen
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

_LEAST_WIDTH = 100
"""Columns of the narrowest screen on which the first screen keeps its number of lines."""

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
    print_sections(kind.sections(result), console, details=details)


def print_sections(
    sections: Iterable[Section], console: Console | None = None, *, details: bool = False, width: int | None = None
) -> None:
    """Print ``sections`` on ``console`` (default: stdout), at most ``width`` columns wide.

    What has a priority stands on one screen, without the rest unless ``details``.
    """
    out = console or make_console()
    columns = min(out.width, width or out.width)
    if not details:
        options = out.options.update(width=max(columns, _LEAST_WIDTH))
        sections = first_screen(sections, lambda block: len(_lines(out, options, *_block(block))))
    # unwrapped lines must not be cropped either
    out.print(_drawn(sections), width=columns, crop=False)


def _drawn(sections: Iterable[Section]) -> RenderableType:
    """Return ``sections`` with blank lines between them; they adapt to the width of the screen."""
    parts: list[RenderableType] = []
    for section in shown(sections, Medium.SCREEN):
        parts += [Text()] if parts else []
        parts += [Text(one_line(section.title), style="bold")] if section.title else []
        parts += [part for block in section.blocks for part in _block(block)]
    return _Trimmed(parts)


def _lines(console: Console, options: ConsoleOptions, *parts: RenderableType) -> list[list[Segment]]:
    return console.render_lines(Group(*parts), options, pad=False)


class _Trimmed:
    def __init__(self, parts: Sequence[RenderableType]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self._parts:
            if isinstance(part, Text) and part.no_wrap:
                yield part
                continue
            for segments in _lines(console, options, part):
                line = Text.assemble(*((each.text, each.style or "") for each in segments), no_wrap=True)
                line.rstrip()
                yield line


class _Cut:
    """Text in at most ``lines`` lines on a screen of 100 columns; 0: the whole text.

    With ``keeps_end`` the cut is before the last clause, which often has the remedy.
    """

    def __init__(self, text: Text, lines: int, *, indent: int = 0, keeps_end: bool = False) -> None:
        self._text, self._lines, self._indent = text, lines, indent
        self._keeps_end = keeps_end

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width, _LEAST_WIDTH - self._indent)
        wrapped = self._text.wrap(console, width)
        if not 0 < self._lines < len(wrapped):
            yield self._text
            return
        if self._keeps_end and (end := self._last_clause(width * self._lines // 2)):
            for length in range(width * self._lines - len(end), 0, -1):
                short = self._text[:length]
                short.rstrip()
                short.append(f"… {end}")
                if len(short.wrap(console, width)) <= self._lines:
                    yield short
                    return
        *whole, last = wrapped[: self._lines]
        last.rstrip()
        last.truncate(width - 1)
        yield Text(" ").join([*whole, last.append("…")])

    def _last_clause(self, longest: int) -> str:
        """Return the last clause, cut to ``longest`` characters, else what follows the last colon; empty if there
        is neither."""
        before, _, last = self._text.plain.rpartition("; ")
        if before:
            return last if len(last) <= longest else f"{last[: longest - 1].rstrip()}…"
        end = last.rpartition(": ")[2]
        return end if len(end) <= longest else ""


def _block(block: Block) -> Iterator[RenderableType]:
    match block:
        case Paragraph(whole=True):
            text = " " * block.indent + " ".join(printable(block.text).splitlines())
            yield Text(text, style=_STYLES[block.tone], no_wrap=True, overflow="ignore")
        case Paragraph():
            text = block.short if block.room and block.short else block.text
            words = _Cut(Text(one_line(text), style=_STYLES[block.tone]), block.room)
            yield Padding(words, (0, 0, 0, block.indent)) if block.indent else words
        case Notes(texts=texts):
            yield from (Text(one_line(text), style="dim") for text in texts)
        case Listing(items=items):
            yield from (_item(item, block.room) for item in items)
        case Table():
            yield ScreenTable(block)
        case Drawing(lines=lines):
            yield from (Text(printable(line)) for line in lines)
        case Source(command=command):
            yield Text(one_line(command))


def _item(item: Item, lines: int) -> RenderableType:
    """Return a grid with the text beside its mark, in at most ``lines`` lines, and its further lines below."""
    line = Text().append(one_line(item.lead), style="bold").append(item.join + one_line(item.text))
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_row(
        Text(_MARKS.get(item.tone, "-"), style=_STYLES[item.tone]), _Cut(line, lines, indent=2, keeps_end=True)
    )
    for text in tail(item.log, _LOG_LINES):
        grid.add_row("", Text(f"  {text}", style="dim", no_wrap=True, overflow="ellipsis"))
    if item.remedy:
        grid.add_row("", Text(f"→ {one_line(item.remedy)}"))
    for text in item.inner:
        grid.add_row("", Text(one_line(text), style="dim"))
    return grid


_GAP = 2
_NARROWEST_PATH = 16
_FIRST_PATH = 44
"""Width to which paths may be folded on the first screen; columns are left out before they get narrower."""

_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.ASIDE: "dim",
    Tone.NEWS: "bold red",
    Tone.ALARM: "bold red",
    Tone.CONTEXT: "",
    Tone.WRONG: "red",
    Tone.REDONE: "yellow",
    Tone.DOUBTFUL: "yellow",
    Tone.GOOD: "green",
    Tone.OTHER: "blue",
}


class ScreenTable:
    """Table in the available width, and on the first screen in its room."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose the columns, give the paths all the remaining width, and draw."""
        columns, lines = [part for column in self._table.on(Medium.SCREEN) for part in _parts(column)], 0
        if self._table.room:
            columns = [replace(column, fold_to=column.fold_to and _FIRST_PATH) for column in columns]
            lines = len(columns[0].cells) + self._table.room - 1
        yield _grid(_fit(columns, options.max_width), options.max_width, lines)


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
