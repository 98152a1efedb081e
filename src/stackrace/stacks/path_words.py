"""The words of a stack path: where one hop and one setting end, and how values are quoted.

A value in a server's own language, an option ``--NAME=VALUE`` or ``config=FILE``, may hold ``/``: only
``/PROTOCOL/`` ends it. One with a comma, a plus or a blank is written in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..base.errors import StackError
from .native_options import CONFIG
from .stack import Protocol

__all__ = ["HopWords", "hops_of", "quoted"]

_WIRE = re.compile(f"/({'|'.join(Protocol)})/")
_OWN = ("--", f"{CONFIG}=")
_QUOTES = "\"'"
_NAME = re.compile(r"[^/+:,]*")
_SETTING = re.compile(r"[^/+,]*")
_OPTION = re.compile(r"[^=/+,]*")
_VALUE = re.compile(f"(?:[^/+,]|/(?!(?:{'|'.join(Protocol)})/))*")
_PLAIN = re.compile(r"[^\s,+#\"'][^\s,+#]*")


@dataclass(frozen=True, slots=True)
class HopWords:
    """One hop as written: how it is reached (None: inside the one before), its name and its settings' words."""

    protocol: str | None
    server: str
    settings: tuple[tuple[str, str | None], ...]
    """Names with values; None where no ``=`` follows."""


def quoted(value: str) -> str:
    """Return ``value`` as a path can hold it; what a path could not hold was never read from one."""
    if _PLAIN.fullmatch(value) and not _WIRE.search(f"{value}/"):
        return value
    quote = _QUOTES[0] if _QUOTES[0] not in value else _QUOTES[1]
    return f"{quote}{value}{quote}"


def hops_of(text: str) -> list[HopWords]:
    """Split a path into its hops; raises StackError where it cannot be split."""
    segments: list[list[tuple[str, str]]] = [[]]
    for separator, word in _words(text):
        if separator == "/":
            segments.append([])
        segments[-1].append((separator, word))
    if len(segments) % 2 == 0 or not all(_joined(segment) for segment in segments):
        raise StackError(
            f"stack {text!r}: write server, or server/protocol/server, each with its settings as in "
            "server:name=value,name=value"
        )
    hops: list[HopWords] = []
    for index in range(0, len(segments), 2):
        wire: str | None = _joined(segments[index - 1]) if index else Protocol.HTTP
        hops += _side_by_side(segments[index], wire)
    return hops


def _side_by_side(segment: list[tuple[str, str]], wire: str | None) -> list[HopWords]:
    """Return the hops of one segment: a server and its guests, each begun by a plus."""
    starts = [index for index, (separator, _) in enumerate(segment) if separator in ("", "/", "+")]
    hops = []
    for start, end in zip(starts, [*starts[1:], len(segment)], strict=True):
        settings = tuple(_setting(word) for _, word in segment[start + 1 : end] if word)
        hops.append(HopWords(wire if start == 0 else None, segment[start][1], settings))
    return hops


def _setting(word: str) -> tuple[str, str | None]:
    name, equals, value = word.partition("=")
    if word.startswith(_OWN) and value[:1] in tuple(_QUOTES):
        value = value[1:-1]
    return name, value if equals else None


def _joined(segment: list[tuple[str, str]]) -> str:
    return "".join(separator + word for separator, word in segment).removeprefix("/")


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word after the separator before it, of which the first has none."""
    path = text.strip()
    if not path.isprintable():
        raise StackError(f"stack {text!r}: it holds a line break or another control character; leave it out")
    separator, start = "", 0
    while True:
        end = _end(text, path, start, separator)
        yield separator, path[start:end]
        if end == len(path):
            return
        separator, start = path[end], end + 1


def _end(text: str, path: str, start: int, separator: str) -> int:
    """Return where the word ends that starts after ``separator``."""
    is_setting = separator in (":", ",")
    if not (is_setting and path.startswith(_OWN, start)):
        return _match(_SETTING if is_setting else _NAME, path, start)
    equals = _match(_OPTION, path, start)
    quote = path[equals + 1 : equals + 2]
    if path[equals : equals + 1] != "=" or quote not in tuple(_QUOTES):
        return _match(_VALUE, path, equals)
    end = path.find(quote, equals + 2) + 1
    if not end or path[end : end + 1] not in ("", "/", ",", "+"):
        raise StackError(f"stack {text!r}: put {quote} before and after the value of {path[start:equals]}")
    return end


def _match(pattern: re.Pattern[str], path: str, start: int) -> int:
    found = pattern.match(path, start)
    return found.end() if found else start
