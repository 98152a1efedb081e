"""systemd's unit files as far as a service's start needs them read. Source: systemd.unit(5), systemd.service(5)."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["FOLDERS", "command_words", "environment_words", "read_unit"]

FOLDERS = {
    "RuntimeDirectory": Path("/run"),
    "LogsDirectory": Path("/var/log"),
    "CacheDirectory": Path("/var/cache"),
}
"""The directives that have systemd make folders, and below what. Source: systemd.exec(5), Sandboxing."""

_COMMENTS = ("#", ";")


def read_unit(text: str) -> Mapping[str, Sequence[str]]:
    """Return the values of each directive, in order, whatever section they stand in; an empty one clears the list.

    Raises ValueError naming a line that is none.
    """
    values: defaultdict[str, list[str]] = defaultdict(list)
    for line in _joined(text):
        if line.startswith("[") and line.endswith("]"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"{line!r} is neither a section nor a directive")
        if not value.strip():
            values[name.strip()] = []
        else:
            values[name.strip()].append(value.strip())
    return values


def command_words(line: str) -> tuple[str, ...]:
    """Return the words of a command line of a unit, quotes and doubled signs undone."""
    return tuple(word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line))


def environment_words(line: str) -> tuple[str, ...]:
    """Return the assignments of an Environment=, where a dollar has no special meaning. Source: systemd.exec(5)."""
    return tuple(word.replace("%%", "%") for word in shlex.split(line))


def _joined(text: str) -> list[str]:
    """Return the lines without comments; one that ends with a backslash goes on, over comments too."""
    lines: list[str] = []
    going_on = False
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        more = line.endswith("\\")
        part = line[:-1].rstrip() if more else line
        if going_on:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
        going_on = more
    return lines
