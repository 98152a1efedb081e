"""How stack paths are broken, only where a reader would pause, and what stacks are called for short."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..base.text import one_line
from ..stacks.stack import Protocol

if TYPE_CHECKING:
    from ..race.results.race import Race

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


_YOURS = "your deployment"

_LONG = 20
"""A longer path is named without its settings, where that is no other's name."""


def short_names(race: Race) -> dict[str, str]:
    """Return the names of the stacks that have a shorter one, by path."""
    bare = {path: "".join(part for part, is_settings in split_settings(path) if not is_settings)
            for path in race.stacks}  # fmt: skip
    times = Counter(bare.values())
    names = {path: name for path, name in bare.items() if len(path) > _LONG and times[name] == 1}
    return names | ({race.current: _YOURS} if race.current else {})


def shortened(sentence: str, race: Race, *, yours: bool = True) -> str:
    """Return ``sentence`` with short names for the stacks in it; what is run today has one only with ``yours``."""
    names = short_names(race)
    if not yours:
        names.pop(race.current, None)
    # a path stays as it is where a sentence begins with it
    first = names | ({race.current: _YOURS.capitalize()} if race.current in names else {})
    paths = "|".join(map(re.escape, sorted(race.stacks, key=len, reverse=True)))
    whole = rf"(?<![^\s(])(?:{paths})(?=[,;:.)]?(?:\s|$))"
    return re.sub(whole, lambda path: (names if path.start() else first).get(path[0], path[0]), sentence)
