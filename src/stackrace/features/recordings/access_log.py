"""Access logs of web servers, in the common or combined format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from ...measure.engine.url import is_address, is_token, origin_form, split_url
from ...measure.workload import Request
from .recorded_steps import MAX_STEPS, Headers, LeftOut, RecordingError, Skip, Skips, Step, Steps, is_value, pause_s

_LINE_MAX_BYTES = 128 * 1024
"""The longest line that is read. Request line and headers of common servers end at 8 to 32 KiB, and escapes take
four times as much."""

# servers write HTTP/2 and HTTP/3 as HTTP/2.0 and HTTP/3.0. Source: RFC 9112 section 2.3
_VERSION = re.compile(rb"HTTP/\d\.\d")
_BLANKS = b" \t\n\r\x0c"


def from_access_log(file: BinaryIO, max_steps: int = MAX_STEPS) -> Steps:
    """Return the steps of an access log in the common or the combined format.

    The log is read line by line. A line that cannot be replayed is counted, and is no error. Pauses are those
    between the lines of the log, in whole seconds.

    Raises RecordingError if no line is of either format or can be replayed, or if more than ``max_steps`` can.
    """
    log, first_line = _Log(), 0
    for number, text in _lines(file):
        if not text:
            continue
        first_line = first_line or number
        log.add(text, number)
        if len(log.steps) > max_steps:
            raise RecordingError(
                f"line {number} holds the request after the {max_steps}th, and no more can be replayed; "
                "limit their number, or cut the log"
            )
    if not log.steps:
        raise _no_steps_error(log.skips, first_line)
    return Steps(origin=None, steps=log.steps, skipped=log.skips.counts())


def _no_steps_error(skips: Skips, first_line: int) -> RecordingError:
    if not first_line:
        return RecordingError("it is empty; give a HAR file, or an access log with requests in it")
    most_frequent = skips.most_frequent()
    if most_frequent is None or set(skips.counts()) == {Skip.LINE}:
        return RecordingError(
            f"line {first_line} is not of the common or combined log format, nor is any after it; "
            'write lines like: 192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] "GET /path HTTP/1.1" 200 2326'
        )
    reason, line = most_frequent
    return RecordingError(
        f"none of its requests can be replayed, most often as: {reason}; the first is in line {line}; "
        "give a log with GET requests"
    )


class _Log:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.skips = Skips()
        self._pages = _Pages()
        # servers write a line when they are done, with the time they began
        self._latest_ns: int | None = None

    def add(self, text: bytes, number: int) -> None:
        """Add the step of line ``number``, or count the reason why it has none."""
        try:
            self.steps.append(self._step(text))
        except LeftOut as left_out:
            self.skips.count(left_out.skip, number)

    def _step(self, text: bytes) -> Step:
        line = _parse_line(text) if len(text) <= _LINE_MAX_BYTES else None
        if line is None:
            raise LeftOut(Skip.LINE)
        method, path = _request_of(line)
        think_s = pause_s(self._latest_ns, line.time_ns)
        if self._latest_ns is None or line.time_ns > self._latest_ns:
            self._latest_ns = line.time_ns
        embedded = self._pages.embed(line.client, path, line.referer)
        headers = _headers(line.referer, line.user_agent)
        request = Request(path=path, method=method, headers=headers, think_s=think_s, embedded=embedded)
        return Step(request, line.status)


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers, from 1, without blanks at both ends; a line that is too long is cut."""
    number = 0
    while text := file.readline(_LINE_MAX_BYTES + 1):
        number += 1
        rest = text
        while not rest.endswith(b"\n") and len(rest) > _LINE_MAX_BYTES:
            rest = file.readline(_LINE_MAX_BYTES + 1)
        # a text editor may have put a byte order mark before the first line
        yield number, (text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text).strip(_BLANKS)


def _request_of(line: _LogLine) -> tuple[str, str]:
    """Return the method and path of a request; raises LeftOut if it cannot be replayed.

    A path may contain spaces, as a server logged them, so it lies between the first space and the last.
    """
    method, _, rest = line.request.partition(b" ")
    target, _, version = rest.rpartition(b" ")
    is_read = method in (b"GET", b"HEAD")
    if not (is_read or is_token(method.decode("latin-1"))) or not _VERSION.fullmatch(version):
        raise LeftOut(Skip.REQUEST_LINE)
    if not is_read:
        raise LeftOut(Skip.BODY_NOT_LOGGED)
    # nginx writes 499 if the client did not wait for an answer
    if not 200 <= line.status < 600 or line.status == 499:
        raise LeftOut(Skip.ANSWER_NOT_LOGGED)
    if target.startswith(b"/"):
        return method.decode(), origin_form(target)
    # clients send the whole URL to a proxy, or to a server that they take for one. Source: RFC 9112 section 3.2.2
    address = split_url(target)
    if address is None:
        raise LeftOut(Skip.REQUEST_LINE)
    return method.decode(), address.path


@lru_cache(maxsize=16384)
def _headers(referer: bytes | None, user_agent: bytes | None) -> Headers:
    """Return the request's headers that the combined format has; the cache makes equal headers one object."""
    logged = (("Referer", _text(referer)), ("User-Agent", _text(user_agent)))
    return tuple(header for header in logged if header[1])


def _text(value: bytes | None) -> str:
    try:
        text = (value or b"").decode().strip()
    except UnicodeDecodeError:
        return ""
    return text if is_value(text) else ""


_QUOTED = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
# a user name may hold spaces and brackets, so it ends at the first brackets that hold a time
_LINE = re.compile(
    rb"([^ ]+) ([^ ]*) .*? \[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    + _QUOTED
    + rb" (-|\d{3}) (?:-|\d{1,19})(?![^ ])(?: "
    + _QUOTED
    + rb"(?: "
    + _QUOTED
    + rb")?)?",
    re.DOTALL,
)
_ESCAPE = re.compile(rb'\\(x[0-9A-Fa-f]{2}|["\\btnvr])')
_MEANT = {b'"': b'"', b"\\": b"\\", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"r": b"\r"}

_is_address = lru_cache(maxsize=4096)(is_address)


class _LogLine(NamedTuple):
    client: bytes
    time_ns: int
    """Nanoseconds since 1970, a whole number of seconds."""
    request: bytes
    status: int
    """Status of the answer; 0 if there was none."""
    referer: bytes | None
    user_agent: bytes | None


def _parse_line(text: bytes) -> _LogLine | None:
    match = _LINE.match(text)
    if match is None:
        return None
    first, second, time, request, status, referer, user_agent = match.groups()
    time_ns = _time_ns(time)
    if time_ns is None:
        return None
    # the first names a virtual host in Debian's ``vhost_combined``
    client = second if second != b"-" and _is_address(second) else first
    number = 0 if status == b"-" else int(status)
    return _LogLine(client, time_ns, _plain(request), number, _optional(referer), _optional(user_agent))


@lru_cache(maxsize=4096)
def _time_ns(text: bytes) -> int | None:
    """Return a time such as ``10/Oct/2026:13:55:36 +0200`` in nanoseconds since 1970; None for other text.

    Source: Apache mod_log_config, ``%t``; nginx, ``$time_local``.
    """
    try:
        return int(datetime.strptime(text.decode(), "%d/%b/%Y:%H:%M:%S %z").timestamp()) * 10**9
    except ValueError:
        return None


def _optional(field: bytes | None) -> bytes | None:
    return None if field is None or field == b"-" else _plain(field)


def _plain(field: bytes) -> bytes:
    r"""Return a field without its escapes; unknown escapes stay as they are.

    Apache writes ``\"``, ``\\``, ``\n`` and the like, and ``\xhh``; nginx writes ``\xHH`` only. Source: Apache's
    ``ap_escape_logitem``, nginx's ``escape=default``.
    """
    return _ESCAPE.sub(_unescape, field) if b"\\" in field else field


def _unescape(match: re.Match[bytes]) -> bytes:
    kind = match[1]
    return bytes.fromhex(kind[1:].decode()) if kind.startswith(b"x") else _MEANT[kind]


_STATIC = frozenset({
    "avif", "css", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "png", "svg", "ttf", "webp", "woff", "woff2",
})  # fmt: skip


class _Pages:
    """The path of the page that each client saw last."""

    def __init__(self) -> None:
        self._last: dict[bytes, str] = {}

    def embed(self, client: bytes, path: str, referer: bytes | None) -> bool:
        """Return True if ``path`` is part of its client's last page; if it is a page, remember it as the last.

        If the log has the Referer, it must be that page. The Referer of a file that a style sheet loads is the
        style sheet, so for such a file only the client decides.
        """
        if not _is_static(path):
            self._last[client] = path
            return False
        page = self._last.get(client)
        if page is None:
            return False
        asked_from = None if referer is None else _path_of(referer)
        return asked_from is None or asked_from == page or _is_static(asked_from)


def _is_static(path: str) -> bool:
    _, dot, extension = path.partition("?")[0].rpartition("/")[2].rpartition(".")
    return bool(dot) and extension.lower() in _STATIC


@lru_cache(maxsize=16384)
def _path_of(url: bytes) -> str | None:
    address = split_url(url)
    return None if address is None else address.path
