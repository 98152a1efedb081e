"""Where in a TOML text a key stands, so that an error about its value can name the line."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["line_of"]

_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""\s*["']?([\w./-]+)["']?\s*=""")


def line_of(text: str, location: Sequence[str | int]) -> int | None:
    """Return the 1-based line of the key at ``location`` (``("race", "budget")``), or of its closest parent.

    An index into an array gives the array's own line. None when not even the first part stands in the text.

    >>> line_of('[race]\\nbudget = "x"\\n', ("race", "budget"))
    2
    """
    keys = [str(part) for part in location if isinstance(part, str)]
    for length in range(len(keys), 0, -1):
        line = _find(text, ".".join(keys[:length]))
        if line is not None:
            return line
    return None


def _find(text: str, wanted: str) -> int | None:
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = re.sub(r"[\s\"']", "", header[1])
            if table == wanted:
                return number
        elif key := _KEY.match(line):
            name = f"{table}.{key[1]}" if table else key[1]
            if name == wanted:
                return number
    return None
