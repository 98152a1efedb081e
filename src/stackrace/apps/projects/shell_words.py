"""A command line as a shell splits it into words."""

from __future__ import annotations

import shlex
from itertools import takewhile

__all__ = ["split_words"]


def split_words(line: str) -> tuple[str, ...]:
    """Return a shell's words, quotes undone; of a line that no shell would take, what stands between blanks."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        # it would take one within a word for a comment, too
        lexer.commenters = ""
        return tuple(takewhile(lambda word: not word.startswith("#"), lexer))
    except ValueError:
        return tuple(line.split())
