"""Draws a report as Markdown, to paste into an issue or a README; foreign text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..base.text import one_line
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

_BOLD = (Tone.GOOD, Tone.WRONG, Tone.DOUBTFUL, Tone.OTHER)


def drawn(sections: Iterable[Section], *, heading: str) -> str:
    """Return ``sections`` as Markdown, their titles after ``heading``."""
    parts: list[str] = []
    for section in shown(sections, Medium.TEXT):
        marks = "#" if section.main else heading
        parts += [f"{marks} {escape(section.title)}"] if section.title else []
        parts += map(_block, section.blocks)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text=text, tone=Tone.NEWS | Tone.ALARM):
            return f"> [!CAUTION]\n> **{escape(text)}**"
        case Paragraph(text=text, tone=Tone.STRONG):
            return f"**{escape(text)}**"
        case Paragraph(text=text):
            return escape(text)
        case Notes(texts=texts):
            return "\n".join(f"- {escape(text)}" for text in texts)
        case Listing(items=items):
            return "\n".join(map(_item, items))
        case Drawing(lines=lines):
            return _fenced(lines)
        case Table():
            return _table(block.on(Medium.TEXT))
        case Source():
            return _source(block)


def _item(item: Item) -> str:
    lead = "" if not item.lead else code(item.lead) if item.is_code else f"**{escape(item.lead)}**"
    remedy = f" → {escape(item.remedy)}" if item.remedy else ""
    inner = "".join(f"\n  - {escape(text)}" for text in item.inner)
    return f"- {lead}{item.join}{escape(item.text)}{remedy}{inner}"


def _table(columns: Iterable[Column]) -> str:
    titles = " | ".join(escape(column.title) for column in columns)
    marks = "|".join(":--" if column.left else "--:" for column in columns)
    rows = zip(*map(_cells, columns), strict=True)
    return "\n".join((f"| {titles} |", f"|{marks}|", *(f"| {' | '.join(row)} |" for row in rows)))


def _cells(column: Column) -> list[str]:
    written = [code(cell) if column.fold_to else escape(cell) for cell in column.cells]
    bold = [f"**{cell}**" if tone in _BOLD else cell for cell, tone in zip(written, column.cell_tones, strict=True)]
    notes = [column.join.format(escape(note)) if note else "" for note in column.cell_notes]
    return [cell + note for cell, note in zip(bold, notes, strict=True)]


def _fenced(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    fence = _fence(text)
    return f"{fence}\n{text}\n{fence}"


def _fence(text: str) -> str:
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


def _source(source: Source) -> str:
    fence = _fence(source.text)
    return (
        f"<details><summary>{escape(source.title)}</summary>\n\n{escape(source.about)}: {code(source.command)}\n\n"
        f"{fence}{source.language}\n{source.text}{fence}\n\n</details>"
    )


def escape(text: str) -> str:
    """Return foreign text with escapes, so that it is not read as Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", one_line(text))


def code(text: str) -> str:
    """Return ``text`` as a code span that is also valid inside a table."""
    clean = one_line(text).replace("|", "\\|")
    if "`" not in clean:
        return f"`{clean}`"
    fence = "`" * (1 + max(len(run) for run in re.findall("`+", clean)))
    return f"{fence} {clean} {fence}"
