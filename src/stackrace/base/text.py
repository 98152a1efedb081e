"""Text that every database and every JSON reader takes as it is."""

from __future__ import annotations

import re

__all__ = ["legible", "storable"]

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
