"""Foreign text as markup: escaped, and breakable where a reader would pause."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from ...base.text import one_line
from ..paths import split_settings

__all__ = ["breakable", "path", "sentence"]

_PAUSE = re.compile(r"(?<=[/+,:])")


def breakable(text: str) -> Markup:
    """Return ``text`` escaped, with a line break allowed after ``/``, ``+``, ``,`` and ``:``."""
    return _pausing(one_line(text))


def path(stack: str) -> Markup:
    """Return a stack's path with its servers strong and its settings quiet."""
    parts = (
        Markup('<span class="settings">{}</span>').format(_pausing(part))
        if settings
        else Markup("<b>{}</b>").format(_pausing(part))
        for part, settings in split_settings(stack)
    )
    return Markup('<span class="path">{}</span>').format(Markup("").join(parts))


def sentence(text: str, stacks: Iterable[str]) -> Markup:
    """Return ``text`` with the stacks it names written as paths."""
    named = sorted({one_line(stack) for stack in stacks} - {""}, key=len, reverse=True)
    if not named:
        return breakable(text)
    known = re.compile("(" + "|".join(re.escape(stack) for stack in named) + ")")
    return Markup("").join(
        path(part) if place % 2 else _pausing(part) for place, part in enumerate(known.split(one_line(text)))
    )


def _pausing(clean: str) -> Markup:
    return Markup("<wbr>").join(escape(piece) for piece in _PAUSE.split(clean) if piece)
