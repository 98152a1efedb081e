"""Draws a report in the terminal, in the width there is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from ..base.text import one_line, printable, tail
from ..race.results.race import Race
from ..race.results.standing import Standing
from .kinds import kind_of
from .sheet import Block, Drawing, Item, Listing, Medium, Notes, Paragraph, Section, Source, Table, Tone, shown
from .terminal_table import STYLES, ScreenTable

__all__ = ["drawn", "make_console", "print_report"]

_PIPE_WIDTH = 120
"""Columns when nobody says how wide the other end of a pipe is."""

_LOG_LINES = 6

_SCREEN_LINES = 28
"""Of the 32 that a report in brief has, those that a blank one, the page's address and two next steps leave."""

_LEAST_WIDTH = 100
"""Columns of the narrowest screen on which a report in brief keeps to its lines."""

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
        width = _PIPE_WIDTH
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


def print_report(race: Race, standing: Standing, console: Console | None = None, *, details: bool = False) -> None:
    """Print the report of a race on ``console`` (default: stdout): on one screen, or with all ``details``."""
    # with the statistics, which most of what is drawn here does without
    from .brief_sheet import brief_sheet
    from .race_sheet import race_sheet

    if (kind := kind_of(race)) is not None:
        sheet = drawn(kind.sections(race))
    elif details:
        sheet = drawn(race_sheet(race, standing))
    else:
        sheet = drawn(brief_sheet(race, standing), most=_SCREEN_LINES)
    (console or make_console()).print(sheet, soft_wrap=False)


def drawn(sections: Iterable[Section], *, most: int = 0) -> RenderableType:
    """Return ``sections``, a blank line between them; they adapt to the width they are printed in.

    A table cuts its paths where the whole would have more lines than ``most``; 0: it never does.
    """
    parts: list[RenderableType] = []
    for section in shown(sections, Medium.SCREEN):
        parts += [Text()] if parts else []
        parts += [Text(one_line(section.title), style="bold")] if section.title else []
        parts += [part for block in section.blocks for part in _block(block)]
    return _Trimmed(parts, most)


class _Trimmed:
    """Draws what it holds, without blanks at the ends of lines."""

    def __init__(self, parts: Sequence[RenderableType], most: int) -> None:
        self._parts = parts
        self._most = most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = self._parts
        if self._most:
            beside = [part for part in parts if not isinstance(part, ScreenTable)]
            room = self._most - len(console.render_lines(Group(*beside), options, pad=False))
            parts = [part.within(room) if isinstance(part, ScreenTable) else part for part in parts]
        for segments in console.render_lines(Group(*parts), options, pad=False):
            line = Text.assemble(*((part.text, part.style or "") for part in segments), no_wrap=True)
            line.rstrip()
            yield line


class _Cut:
    """Draws a text in so many lines at most, as it would be on a screen of 100 columns; 0 lines: the whole text."""

    def __init__(self, text: Text, lines: int, *, beside: int = 0) -> None:
        self._text, self._lines, self._beside = text, lines, beside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width, _LEAST_WIDTH - self._beside)
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
        case Paragraph(text=text, tone=tone, lines=lines):
            yield _Cut(Text(one_line(text), style=STYLES[tone]), lines)
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
    """Set the text off by its mark, its further lines beneath its first."""
    line = Text().append(one_line(item.lead), style="bold").append(item.join + one_line(item.text))
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(_MARKS.get(item.tone, "-"), style=STYLES[item.tone]), _Cut(line, item.lines, beside=2))
    for text in tail(item.log, _LOG_LINES):
        grid.add_row("", Text(f"  {text}", style="dim", no_wrap=True, overflow="ellipsis"))
    if item.remedy:
        grid.add_row("", Text(f"→ {one_line(item.remedy)}"))
    for text in item.inner:
        grid.add_row("", Text(one_line(text), style="dim"))
    return grid
