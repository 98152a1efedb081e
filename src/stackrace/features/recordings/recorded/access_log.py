"""Access logs of web servers, in the common or combined format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO

from ....measure.engine.url import is_token, origin_form, split_url
from .headers import is_value
from .log_line import LogLine, parse_line
from .pages import Pages
from .skip import LeftOut, Skip, Skips
from .step import MAX_STEPS, Headers, RecordingError, Step, Steps, pause_ns

LINE_MAX_BYTES = 128 * 1024
"""The longest line that is read. Request line and headers of common servers end at 8 to 32 KiB, and escapes take
four times as much."""

# servers write HTTP/2.0 and HTTP/3.0 for those. Source: RFC 9112 section 2.3
_VERSION = re.compile(rb"HTTP/\d\.\d")
_BLANKS = b" \t\n\r\x0c"


def from_access_log(file: BinaryIO, limit: int | None = None, max_steps: int = MAX_STEPS) -> Steps:
    """Read an access log into its first ``limit`` steps, all of them without a limit.

    The log is read line by line, and no further than needed. A line that cannot be replayed is counted, no error.
    Pauses are those of the log as a whole, in whole seconds as it has them.

    RecordingError: no line is of either format or can be replayed, or there are more than ``max_steps`` that can.
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
        if limit is not None and len(log.steps) == limit:
            break
    if not log.steps:
        raise _nothing(log.skips, first_line)
    return Steps(is_session=False, origin=None, steps=log.steps, skipped=log.skips.counts())


def _nothing(skips: Skips, first_line: int) -> RecordingError:
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
    """What the lines so far have come to."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.skips = Skips()
        self._pages = Pages()
        # servers write a line when they are done, with the time they began
        self._latest_ns: int | None = None

    def add(self, text: bytes, number: int) -> None:
        """Make a step of line ``number``, or count why not."""
        try:
            self.steps.append(self._step(text))
        except LeftOut as left_out:
            self.skips.count(left_out.skip, number)

    def _step(self, text: bytes) -> Step:
        line = parse_line(text) if len(text) <= LINE_MAX_BYTES else None
        if line is None:
            raise LeftOut(Skip.LINE)
        method, path = _request_of(line)
        think_ns = pause_ns(self._latest_ns, line.time_ns)
        if self._latest_ns is None or line.time_ns > self._latest_ns:
            self._latest_ns = line.time_ns
        return Step(
            method=method,
            path=path,
            headers=_headers(line),
            status=None if line.status == 304 else line.status,
            think_ns=think_ns,
            embedded=self._pages.embed(line.client, path, line.referer),
        )


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers, from 1, without what is blank around them; of one too long its beginning."""
    number = 0
    while text := file.readline(LINE_MAX_BYTES + 1):
        number += 1
        rest = text
        while not rest.endswith(b"\n") and len(rest) > LINE_MAX_BYTES:
            rest = file.readline(LINE_MAX_BYTES + 1)
        # a text editor may have put a byte order mark before the first
        yield number, (text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text).strip(_BLANKS)


def _request_of(line: LogLine) -> tuple[str, str]:
    """Return method and path of a request that can be replayed.

    A path may hold spaces that a server logged as they came, so it lies between the first space and the last.
    """
    method, _, rest = line.request.partition(b" ")
    target, _, version = rest.rpartition(b" ")
    is_read = method in (b"GET", b"HEAD")
    if not (is_read or is_token(method.decode("latin-1"))) or not _VERSION.fullmatch(version):
        raise LeftOut(Skip.REQUEST_LINE)
    if not is_read:
        raise LeftOut(Skip.BODY_NOT_LOGGED)
    # nginx writes 499 where the client did not wait for an answer
    if not 200 <= line.status < 600 or line.status == 499:
        raise LeftOut(Skip.ANSWER_NOT_LOGGED)
    if target.startswith(b"/"):
        return method.decode(), origin_form(target)
    # a proxy, or whoever takes the server for one, is asked with the whole URL. Source: RFC 9112 section 3.2.2
    address = split_url(target)
    if address is None:
        raise LeftOut(Skip.REQUEST_LINE)
    return method.decode(), address.path


def _headers(line: LogLine) -> Headers:
    """Return what the combined format tells of the request's headers."""
    logged = (("Referer", _text(line.referer)), ("User-Agent", _text(line.user_agent)))
    return tuple(header for header in logged if header[1])


@lru_cache(maxsize=16384)
def _text(value: bytes | None) -> str:
    """Return what can be sent, empty where nothing can."""
    try:
        text = (value or b"").decode().strip()
    except UnicodeDecodeError:
        return ""
    return text if is_value(text) else ""
