"""Foreign text (stack names, logs, messages) made harmless for terminals, XML, files, databases and JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["few", "legible", "one_line", "printable", "storable", "tail"]

# a string that nothing ends on its line is text like any other: what follows may be ours
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    r"""Return ``text`` without escape sequences; other control characters and lone surrogates become "�".

    >>> printable("\x1b[31mred\x1b[0m\x00")
    'red�'
    """
    return _UNPRINTABLE.sub("\ufffd", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str) -> str:
    """Return ``text`` made printable, its line breaks and runs of spaces as single spaces."""
    return " ".join(printable(text).split())


def tail(text: str, lines: int) -> tuple[str, ...]:
    """Return the last ``lines`` lines of ``text`` that are not blank, made printable."""
    kept = [line.rstrip() for line in printable(text).splitlines() if line.strip()]
    return tuple(kept[-lines:])


def few(things: Sequence[object], most: int = 5) -> str:
    """Return the first ``most`` of ``things``, and how many more there are.

    >>> few(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(str, things[:most])) + more


_ESCAPE = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile(_ESCAPE + "([0-9a-f]{4})")


def storable(text: str) -> str:
    """Return ``text`` without NULs and lone surrogates, which logs contain and databases refuse.

    They become U+001A and four hexadecimal digits, as does U+001A itself; ordinary text stays as it is.
    """
    return _UNSTORABLE.sub(lambda match: f"{_ESCAPE}{ord(match[0]):04x}", text)


def legible(text: str) -> str:
    """Undo ``storable``."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
