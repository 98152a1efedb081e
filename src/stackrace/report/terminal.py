"""Draws a report in the terminal, in the width there is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from ..model.printable import one_line, printable, tail
from ..model.race import Race
from ..model.standing import Standing
from .sheet import Block, Item, Listing, Medium, Notes, Paragraph, Section, Source, Table, Tone, shown
from .terminal_table import STYLES, ScreenTable

__all__ = ["drawn", "make_console", "print_report"]

PIPE_WIDTH = 120
"""Columns when nobody says how wide the other end of a pipe is."""

LOG_LINES = 6

_MARKS = {Tone.WRONG: "✗", Tone.REDONE: "↻", Tone.DOUBTFUL: "!"}


def make_console(stream: TextIO | None = None, *, width: int | None = None) -> Console:
    """Return a console on ``stream`` (default stdout) that survives characters the stream cannot write.

    Colour follows NO_COLOR and whether ``stream`` is a terminal; COLUMNS sets the width of a pipe.
    """
    out = stream or sys.stdout
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    if width is None and not out.isatty() and "COLUMNS" not in os.environ:
        width = PIPE_WIDTH
    coloured = out.isatty() and "NO_COLOR" not in os.environ
    return _PrintableConsole(
        file=getattr(out, "trusted", out), width=width, highlight=False, markup=False, emoji=False,
        color_system="auto" if coloured else None,
    )  # fmt: skip


class _PrintableConsole(Console):
    """Draws our styles, and foreign text as text: on the command line stdout itself takes neither."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of ``renderable``; only those that rich means as control sequences stay such."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def print_report(race: Race, standing: Standing, console: Console | None = None) -> None:
    """Print the whole report of a race on ``console`` (default: stdout)."""
    from .gate.sheet import sheet_of  # with the statistics, which most of what is drawn here does without

    (console or make_console()).print(drawn(sheet_of(race, standing)), soft_wrap=False)


def drawn(sections: Iterable[Section]) -> RenderableType:
    """Return ``sections``, a blank line between them; they adapt to the width they are printed in."""
    parts: list[RenderableType] = []
    for section in shown(sections, Medium.SCREEN):
        parts += [Text()] if parts else []
        parts += [Text(one_line(section.title), style="bold")] if section.title else []
        parts += [part for block in section.blocks for part in _block(block)]
    return _Trimmed(Group(*parts))


class _Trimmed:
    """Draws what it holds, without blanks at the ends of lines."""

    def __init__(self, drawing: RenderableType) -> None:
        self._drawing = drawing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segments in console.render_lines(self._drawing, options, pad=False):
            line = Text.assemble(*((part.text, part.style or "") for part in segments), no_wrap=True)
            line.rstrip()
            yield line


def _block(block: Block) -> Iterator[RenderableType]:
    match block:
        case Paragraph(text=text, tone=tone):
            yield Text(one_line(text), style=STYLES[tone])
        case Notes(texts=texts):
            yield from (Text(one_line(text), style="dim") for text in texts)
        case Listing(items=items):
            yield from map(_item, items)
        case Table():
            yield ScreenTable(block)
        case Source(command=command):
            yield Text(one_line(command))


def _item(item: Item) -> RenderableType:
    """Set the text off by its mark, its further lines beneath its first."""
    line = Text().append(one_line(item.lead), style="bold").append(item.join + one_line(item.text))
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(_MARKS.get(item.tone, "-"), style=STYLES[item.tone]), line)
    for text in tail(item.log, LOG_LINES):
        grid.add_row("", Text(f"  {text}", style="dim", no_wrap=True, overflow="ellipsis"))
    if item.remedy:
        grid.add_row("", Text(f"→ {one_line(item.remedy)}"))
    for text in item.inner:
        grid.add_row("", Text(one_line(text), style="dim"))
    return grid
