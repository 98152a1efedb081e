"""Line breaks in stack paths, only where a reader would pause, and short names of stacks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..base.text import one_line
from ..stacks.setting import Protocol

if TYPE_CHECKING:
    from ..race.results.race import Race

_PIECE = re.compile(r"[^/+,:]*[/+,:]?")
_SETTINGS = re.compile(f"(:(?:[^/+]|/(?!(?:{'|'.join(Protocol)})/))*)")


def _pieces(path: str) -> tuple[str, ...]:
    """Return ``path`` split after each separator: ``('nginx/', 'http/', 'gunicorn:', 'workers=4')``."""
    return tuple(piece for piece in _PIECE.findall(one_line(path)) if piece)


def split_settings(path: str) -> tuple[tuple[str, bool], ...]:
    """Return the parts of ``path``, each with True if it is a settings part (``:workers=4``)."""
    return tuple((part, part.startswith(":")) for part in _SETTINGS.split(one_line(path)) if part)


def fold(path: str, width: int) -> str:
    """Return ``path`` on as many lines as ``width`` needs, broken after separators, with indented continuation.

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
"""Length above which a path is named without its settings, if no other has that name."""


def short_names(race: Race) -> dict[str, str]:
    """Return the short names of the stacks that have one, by path."""
    bare = {path: "".join(part for part, is_settings in split_settings(path) if not is_settings)
            for path in race.stacks}  # fmt: skip
    times = Counter(bare.values())
    names = {path: name for path, name in bare.items() if len(path) > _LONG and times[name] == 1}
    return names | ({race.current: _YOURS} if race.current else {})


_UNREADABLE = 60
"""Length above which a path has a short name in tables: it would take more than two lines there."""


def table_names(stacks: Sequence[str]) -> dict[str, str]:
    """Return the names of the stacks with unreadably long paths in tables, by path: ``gunicorn:…``.

    Stacks of the same servers are numbered, if more than one has such a path.
    """
    bare = {path: "".join(part for part, is_settings in split_settings(path) if not is_settings) + ":…"
            for path in stacks if len(path) > _UNREADABLE}  # fmt: skip
    times, names = Counter(bare.values()), dict[str, str]()
    for path, name in bare.items():
        number = 1 + sum(bare[other] == name for other in names)
        names[path] = f"{name} ({number})" if times[name] > 1 else name
    return names


def shortened(sentence: str, race: Race, *, yours: bool = True) -> str:
    """Return ``sentence`` with short names of stacks; the current stack gets one only with ``yours``."""
    names = short_names(race)
    if not yours:
        names.pop(race.current, None)
    # at the beginning of a sentence, a path stays unless it is the current stack's
    first = names | ({race.current: _YOURS.capitalize()} if race.current in names else {})
    paths = "|".join(map(re.escape, sorted(race.stacks, key=len, reverse=True)))
    whole = rf"(?<![^\s(])(?:{paths})(?=[,;:.)]?(?:\s|$))"
    return re.sub(whole, lambda path: (names if path.start() else first).get(path[0], path[0]), sentence)
