"""The path of a request, as a user writes it."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

__all__ = ["path_fault"]

_KEPT = "/%:@!$&'()*+,;=?-._~#[]|\\\"<>^`{}"
"""What stays as it is: what a URL may have, and what servers take all the same."""


def path_fault(path: str) -> str:
    """Say what is wrong with ``path`` and what to write instead; empty for a right one.

    >>> path_fault("/a b")
    'may not have blanks; write /a%20b'
    """
    if "://" in path:
        parts = urlsplit(path)
        right = _quoted(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
        return f"must start with /, without scheme and host; write {right}"
    if not path.startswith("/"):
        return f"must start with /; write {_quoted('/' + path)}"
    if (right := _quoted(path)) == path:
        return ""
    return f"may not have {'blanks' if path.isascii() else 'blanks, nor letters beyond ASCII'}; write {right}"


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"), safe=_KEPT)
