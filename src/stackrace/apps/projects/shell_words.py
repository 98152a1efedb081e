"""A command line as a shell splits it into words."""

from __future__ import annotations

import shlex

__all__ = ["split_words"]


def split_words(line: str) -> tuple[str, ...]:
    """Return a shell's words, quotes undone; of a line that no shell would take, what stands between blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        return tuple(lexer)
    except ValueError:
        return tuple(line.split())
