"""Contents of a report as data: sections of paragraphs, lists and tables, which every format only draws.

A new format is one module that draws these, and its line in ``exporter``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from ..base.numbers import Interval


class Medium(StrEnum):
    """Medium of a report."""

    SCREEN = "screen"
    """A terminal: little room, no way to unfold anything."""
    TEXT = "text"
    """Markdown."""
    PAGE = "page"
    """HTML, with charts of its own."""


class Tone(StrEnum):
    """Emphasis of a text or a cell."""

    PLAIN = "plain"
    STRONG = "strong"
    ASIDE = "aside"
    NEWS = "news"
    """Alarm before the answer."""
    ALARM = "alarm"
    """The answer of a void race."""
    CONTEXT = "context"
    """Facts about the race, in smaller type on a page."""
    WRONG = "wrong"
    REDONE = "redone"
    DOUBTFUL = "doubtful"
    GOOD = "good"
    OTHER = "other"


_EVERYWHERE = tuple(Medium)
FILES = (Medium.TEXT, Medium.PAGE)
"""Media with room for everything."""
ONLY_FIRST: tuple[Medium, ...] = ()
"""Media of a block that only the first screen shows, by its priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Common members of all blocks."""

    media: tuple[Medium, ...] = _EVERYWHERE
    """Media of the whole report that show it."""
    priority: int = 0
    """Rank on the first screen, where 1 is the first to get more lines; 0: only the whole report has it."""
    room: int = 0
    """Lines on the first screen: 1 for the fewest, and each further one for a line more. 0: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph(_Block):
    """One text."""

    text: str
    short: str = ""
    """Text on the first screen, if different."""
    tone: Tone = Tone.PLAIN
    whole: bool = False
    """True if a screen never wraps it, however long it is, so that it can be copied or searched."""
    indent: int = 0
    """Number of blanks before each of its lines on a screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes(_Block):
    """Texts below everything else, each on its own."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a list."""

    text: str
    lead: str = ""
    """Name of the check or thing, before a colon; or code that begins the sentence."""
    is_code: bool = False
    """True if the lead is code: a stack's path, a command."""
    tone: Tone = Tone.PLAIN
    remedy: str = ""
    """Remedy."""
    log: str = ""
    """Last lines of a log; only screens show it."""
    inner: tuple[str, ...] = ()
    """Further texts, each an entry below it."""

    @property
    def join(self) -> str:
        """Separator between lead and text."""
        return " " if self.is_code else ": " if self.lead else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(_Block):
    """A list."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing(_Block):
    """Lines that stay unchanged: a picture in characters, a line to copy."""

    lines: tuple[str, ...]
    media: tuple[Medium, ...] = (Medium.SCREEN, Medium.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(_Block):
    """A file to save, folded away if the medium can."""

    title: str
    about: str
    command: str
    text: str
    language: str = "toml"
    media: tuple[Medium, ...] = FILES


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table, all its cells as text."""

    title: str
    cells: tuple[str, ...]
    short: str | None = None
    """Title on a screen, if different."""
    notes: tuple[str, ...] = ()
    """Notes in smaller type after the cells: limits, remarks."""
    intervals: tuple[Interval | None, ...] = ()
    """Differences that a page draws in place of the cells, each in its row, with "no difference" in the middle."""
    ratios: bool = False
    """True for intervals that are ratios: 1 is no difference, in place of 0."""
    join: str = " ({})"
    """Form of a note after its cell in media without smaller type."""
    tones: tuple[Tone, ...] = ()
    """Tone of each cell; empty: the column's tone."""
    tone: Tone = Tone.PLAIN
    left: bool = False
    """True if cells are aligned left, as for text; figures are aligned right."""
    fold_to: int = 0
    """For stack paths: the width in characters to which they are folded before a column is left out."""
    least: int = 0
    """The least width on a screen, in characters."""
    wraps: tuple[int, int] | None = None
    """For sentences: the least width in characters, and the share of the remaining width."""
    once: bool = False
    """True if a screen shows only the first of equal neighbours."""
    keep: int = 0
    """Rank on a narrow screen: columns with the lowest number are left out first; 0 is never left out."""
    notes_keep: int | None = None
    """Rank of the notes, which then have a column of their own on a screen."""
    media: tuple[Medium, ...] = _EVERYWHERE

    @property
    def cell_notes(self) -> tuple[str, ...]:
        """Note of each cell, empty if it has none."""
        return self.notes or ("",) * len(self.cells)

    @property
    def cell_tones(self) -> tuple[Tone, ...]:
        """Tone of each cell."""
        return self.tones or (Tone.PLAIN,) * len(self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(_Block):
    """Columns of equal length."""

    columns: tuple[Column, ...]

    def on(self, medium: Medium) -> tuple[Column, ...]:
        """Return the columns for ``medium``, without those whose cells are all empty."""
        return tuple(column for column in self.columns if medium in column.media and any(column.cells))


Block = Paragraph | Notes | Listing | Drawing | Source | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks under a heading."""

    title: str
    """Heading; empty for none."""
    main: bool = False
    """True if it is the title of the whole report."""
    blocks: tuple[Block, ...] = ()
    drawn: str = ""
    """Template of a page that draws the section in its own way; empty for none."""
    media: tuple[Medium, ...] = _EVERYWHERE


def as_lines(texts: Iterable[str]) -> Section:
    """Return a section of ``texts``, each on one line, however long."""
    return Section(title="", blocks=tuple(Paragraph(text=text, whole=True) for text in texts))


def shown(sections: Iterable[Section], medium: Medium) -> tuple[Section, ...]:
    """Return the ``sections`` for ``medium``, without empty ones."""
    cut = (
        replace(section, blocks=tuple(block for block in section.blocks if medium in block.media))
        for section in sections
        if medium in section.media
    )
    return tuple(section for section in cut if section.blocks or (section.drawn and medium is Medium.PAGE))
