"""Long tracebacks of apps, cut to the last exception and the frames in the app's own files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .stdio import TRACEBACK

_SHORT_LINES = 30
"""Number of lines that are shown whole."""
_BEGIN = "Traceback (most recent call last):"
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
"""Lines between two tracebacks of a chain. Source: the Python library's documentation, traceback."""
_FRAME = re.compile(r'  File ".+?", line \d')
_OF_FRAME = ("    ", "  [Previous line")
_INSTALLED = re.compile(r'[/\\](?:site-packages|dist-packages|lib\d*[/\\]python3)|"<frozen ')
"""Part of a frame that shows that its file belongs to a package or to Python, not to the app."""


def cut_tracebacks(text: str) -> str:
    """Return ``text`` with each chain of tracebacks cut to its last exception, and that to the app's own frames.

    The frame that raised it stays, too. A short text, or one without a traceback, stays as it is.
    """
    lines = text.splitlines()
    if len(lines) <= _SHORT_LINES or _BEGIN not in lines:
        return text
    short = [*_own_frames(_last_of_chains(lines))]
    left_out = len(lines) - len(short)
    note = [f"({left_out} lines are left out; to see all: export {TRACEBACK}=1)"] if left_out else []
    return "\n".join([*short, *note])


def _last_of_chains(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    begun = 0
    for before, line in pairwise(["", *lines]):
        if line in _CHAINED:
            del kept[begun:]
        elif line or before not in _CHAINED:
            begun = len(kept) if line == _BEGIN else begun
            kept.append(line)
    return kept


def _own_frames(lines: Sequence[str]) -> Iterator[str]:
    frames: list[list[str]] = []
    for line in lines:
        if _FRAME.match(line):
            frames.append([line])
        elif frames and line.startswith(_OF_FRAME):
            frames[-1].append(line)
        else:
            yield from _kept(frames)
            frames = []
            yield line
    yield from _kept(frames)


def _kept(frames: Sequence[list[str]]) -> Iterator[str]:
    """Yield the lines of the app's own frames, and of the last one."""
    for frame in frames:
        if frame is frames[-1] or not _INSTALLED.search(frame[0]):
            yield from frame
