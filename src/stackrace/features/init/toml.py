"""Texts as they stand in TOML."""

from __future__ import annotations

import json

__all__ = ["comment", "quoted"]


def quoted(text: str) -> str:
    r"""Return ``text`` as a basic string; a byte that is no UTF-8 becomes a question mark.

    >>> print(quoted('a "b" \\ \x7f'))
    "a \"b\" \\ \u007f"
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def comment(text: str) -> str:
    r"""Return ``text`` on one line, without control characters.

    >>> comment('one\ntwo\x1b[31m')
    'one two [31m'
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(character if character.isprintable() else " " for character in clean).split())
