"""What a report says, as data: sections of paragraphs, lists and tables, which every format only draws.

A new format is one module that draws these, and its line in ``exporter``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from ..base.numbers import Interval


class Medium(StrEnum):
    """Where a report is read."""

    SCREEN = "screen"
    """A terminal: little room, no way to unfold anything."""
    TEXT = "text"
    """Markdown."""
    PAGE = "page"
    """HTML, which has charts of its own."""


class Tone(StrEnum):
    """How a text or a cell stands out."""

    PLAIN = "plain"
    STRONG = "strong"
    ASIDE = "aside"
    ALARM = "alarm"
    """The answer of a void race."""
    WRONG = "wrong"
    REDONE = "redone"
    DOUBTFUL = "doubtful"
    GOOD = "good"
    OTHER = "other"


_EVERYWHERE = tuple(Medium)
FILES = (Medium.TEXT, Medium.PAGE)
"""Where there is room for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """One text."""

    text: str
    tone: Tone = Tone.PLAIN
    lines: int = 0
    """The most lines on a screen, counted where it is 100 columns wide or more; what is beyond is cut. 0: all."""
    whole: bool = False
    """Whether a screen leaves it on its line, however long that is: to be copied, or searched."""
    indent: int = 0
    """How many blanks stand before each of its lines on a screen."""
    media: tuple[Medium, ...] = _EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """Texts below everything else, each on its own."""

    texts: tuple[str, ...]
    media: tuple[Medium, ...] = _EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a list."""

    text: str
    lead: str = ""
    """The check or thing that it is about, before a colon; or code, which begins the sentence."""
    is_code: bool = False
    """Whether the lead is code: a stack's path, a command."""
    tone: Tone = Tone.PLAIN
    lines: int = 0
    """The most lines of the text on a screen, as a paragraph has them."""
    remedy: str = ""
    """What to do about it."""
    log: str = ""
    """The tail of a log; screens show it."""
    inner: tuple[str, ...] = ()
    """Texts that belong to it, each an entry below."""

    @property
    def join(self) -> str:
        """What stands between lead and text."""
        return " " if self.is_code else ": " if self.lead else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list."""

    items: tuple[Item, ...]
    media: tuple[Medium, ...] = _EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Lines that stay as they are: a picture in characters, a line to be copied."""

    lines: tuple[str, ...]
    media: tuple[Medium, ...] = (Medium.SCREEN, Medium.TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to be saved, folded away where that is possible."""

    title: str
    about: str
    command: str
    text: str
    language: str = "toml"
    media: tuple[Medium, ...] = (Medium.TEXT,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table, all its cells as text."""

    title: str
    cells: tuple[str, ...]
    short: str | None = None
    """The title on a screen, where that is another one."""
    notes: tuple[str, ...] = ()
    """What follows each cell in smaller type: its limits, a remark."""
    intervals: tuple[Interval | None, ...] = ()
    """Differences that a page draws in place of the cells, each in its row, around no difference in the middle."""
    ratios: bool = False
    """True for intervals that are ratios: 1 is no difference, in place of 0."""
    join: str = " ({})"
    """How a note follows its cell where there is no smaller type."""
    tones: tuple[Tone, ...] = ()
    """How each cell stands out; empty: as the column does."""
    tone: Tone = Tone.PLAIN
    left: bool = False
    """Whether cells stand at the left: text does, figures do not."""
    fold_to: int = 0
    """Of stack paths: the width in characters to which they are folded before a column is left out."""
    least: int = 0
    """The least width on a screen, in characters."""
    wraps: tuple[int, int] | None = None
    """Of sentences: the least width in characters, and the share of the room left."""
    once: bool = False
    """Whether a screen shows only the first of equal neighbours."""
    keep: int = 0
    """On a screen that is too narrow columns with the lowest number go first; 0 never goes."""
    notes_keep: int | None = None
    """The same for the notes, which then have a column of their own on a screen."""
    media: tuple[Medium, ...] = _EVERYWHERE

    @property
    def cell_notes(self) -> tuple[str, ...]:
        """The note of each cell, empty where it has none."""
        return self.notes or ("",) * len(self.cells)

    @property
    def cell_tones(self) -> tuple[Tone, ...]:
        """The tone of each cell."""
        return self.tones or (Tone.PLAIN,) * len(self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns of equal length."""

    columns: tuple[Column, ...]
    media: tuple[Medium, ...] = _EVERYWHERE

    def on(self, medium: Medium) -> tuple[Column, ...]:
        """Return the columns that ``medium`` shows: its own, unless all their cells are empty."""
        return tuple(column for column in self.columns if medium in column.media and any(column.cells))


Block = Paragraph | Notes | Listing | Drawing | Source | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks under a heading."""

    title: str
    """Empty: no heading."""
    main: bool = False
    """Whether it is the title of the whole report."""
    blocks: tuple[Block, ...]
    media: tuple[Medium, ...] = _EVERYWHERE


def as_lines(texts: Iterable[str]) -> Section:
    """Return a section of ``texts``, each on its line, however long that is."""
    return Section(title="", blocks=tuple(Paragraph(text=text, whole=True) for text in texts))


def shown(sections: Iterable[Section], medium: Medium) -> tuple[Section, ...]:
    """Return what ``medium`` shows of ``sections``, empty ones left out."""
    cut = (
        replace(section, blocks=tuple(block for block in section.blocks if medium in block.media))
        for section in sections
        if medium in section.media
    )
    return tuple(section for section in cut if section.blocks)
