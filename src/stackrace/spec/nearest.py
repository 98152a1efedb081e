"""Suggestions for mistyped names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean a or b?"`` for the known names nearest to ``word``, else all the known ones.

    >>> did_you_mean("yelow", ["yellow", "blue"])
    '; did you mean yellow?'
    >>> did_you_mean("xyz", ["yellow", "blue"])
    '; known are blue, yellow'
    """
    names = sorted(known)
    near = get_close_matches(word, names, n=3, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; known are {', '.join(names)}" if names else ""
