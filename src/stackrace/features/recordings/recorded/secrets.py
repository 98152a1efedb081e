"""Strings of an answer that nobody types: tokens and ids in JSON, in scripts and in attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ....measure.engine import _engine

__all__ = ["Secret", "secrets", "words"]

_WORD = re.compile(rb"[0-9A-Za-z_+/.~-]{16,}={0,2}")
_CHANGE = re.compile(rb"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
_BYTES_A_CHANGE = 8
"""Random hexadecimal digits change between letters and digits at every other byte; names and dates seldom do."""


class Secret(NamedTuple):
    """A named string, by its number among those of that name."""

    name: bytes
    nth: int
    value: bytes


def secrets(body: bytes) -> Iterator[Secret]:
    """Yield the strings of JSON or a page that look random."""
    counts: dict[bytes, int] = {}
    for name, value in _engine.page_members(body):
        nth = counts.setdefault(name, 0)
        counts[name] += 1
        if _is_random(value):
            yield Secret(name, nth, value)


def words(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what may be a secret in ``text``, and where it begins."""
    return ((match.start(), match[0]) for match in _WORD.finditer(text))


def _is_random(value: bytes) -> bool:
    changes = len(_CHANGE.findall(value)) if _WORD.fullmatch(value) else 0
    return changes * _BYTES_A_CHANGE >= len(value) and any(byte in b"0123456789" for byte in value)
