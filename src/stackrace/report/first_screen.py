"""The first screen of a report: all parts with a priority, and the most important with the most lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from .sheet import Block, Medium, Section, Table

_LINES = 28
"""Lines of a screen: 32, less a blank one, the page's address and two next steps."""
_ROWS = 7
"""Rows of a table on such a screen; further ones make it longer."""
_TEXT_LINES = 3
"""The most lines of a text."""
_ALL = 1000


def first_screen(sections: Iterable[Section], height: Callable[[Block], int]) -> tuple[Section, ...]:
    """Return the blocks with a priority, each with its ``room``; all ``sections`` if none has a priority.

    Each block has as few lines as it can have. Then the most important ones take what they need, until the screen
    is full. ``height`` returns the number of a block's lines in its room.
    """
    every = tuple(sections)
    chosen = [section for section in map(_with_priority, every) if section.blocks]
    blocks = sorted((block for section in chosen for block in section.blocks), key=lambda block: block.priority)
    fewest = [height(replace(block, room=1)) for block in blocks]
    frame = sum(bool(section.title) for section in chosen) + len(chosen) - 1
    left = _LINES + sum(map(_hidden_rows, blocks)) - frame - sum(fewest)
    placed: dict[int, Block] = {}
    for block, lines in zip(blocks, fewest, strict=True):
        wanted = height(replace(block, room=_ALL if isinstance(block, Table) else _TEXT_LINES)) - lines
        more = max(min(wanted, left), 0)
        placed[id(block)] = replace(block, room=1 + more, media=(Medium.SCREEN,))
        left -= more
    return tuple(replace(one, blocks=tuple(placed[id(each)] for each in one.blocks)) for one in chosen) or every


def _with_priority(section: Section) -> Section:
    return replace(section, blocks=tuple(block for block in section.blocks if block.priority))


def _hidden_rows(block: Block) -> int:
    return max(len(block.columns[0].cells) - _ROWS, 0) if isinstance(block, Table) else 0
