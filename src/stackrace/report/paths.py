"""How stack paths are broken: only where a reader would pause."""

from __future__ import annotations

import re

from ..base.text import one_line
from ..stacks.stack import Protocol

__all__ = ["fold", "split_settings"]

_PIECE = re.compile(r"[^/+,:]*[/+,:]?")
_SETTINGS = re.compile(f"(:(?:[^/+]|/(?!(?:{'|'.join(Protocol)})/))*)")


def _pieces(path: str) -> tuple[str, ...]:
    """Return ``path`` cut after each separator: ``('nginx/', 'http/', 'gunicorn:', 'workers=4')``."""
    return tuple(piece for piece in _PIECE.findall(one_line(path)) if piece)


def split_settings(path: str) -> tuple[tuple[str, bool], ...]:
    """Return ``path`` in parts, each with whether it is a settings part (``:workers=4``)."""
    return tuple((part, part.startswith(":")) for part in _SETTINGS.split(one_line(path)) if part)


def fold(path: str, width: int) -> str:
    """Return ``path`` on as many lines as ``width`` asks for, broken after separators, continued indented.

    >>> print(fold('nginx/http/gunicorn:workers=4,preload=on', 22))
    nginx/http/gunicorn:
      workers=4,preload=on
    """
    lines = [""]
    for piece in _pieces(path):
        if len(lines[-1].strip()) and len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(line if len(line) <= width else line[: max(1, width - 1)] + "…" for line in lines)
