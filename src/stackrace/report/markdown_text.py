"""Foreign text within Markdown: escaped, or as a code span."""

from __future__ import annotations

import re

from ..base.text import one_line

__all__ = ["code", "escape"]


def escape(text: str) -> str:
    """Keep foreign text from being read as Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", one_line(text))


def code(text: str) -> str:
    """Return ``text`` as a code span that also holds inside a table."""
    clean = one_line(text).replace("|", "\\|")
    if "`" not in clean:
        return f"`{clean}`"
    fence = "`" * (1 + max(len(run) for run in re.findall("`+", clean)))
    return f"{fence} {clean} {fence}"
