"""Ask the app for every request often enough to see how much of its answers repeats."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from .messages import Caller, ExchangeMessage, Reply, RequestMessage, WireRequest, header

PAUSE_S = 1.1
"""Between the first and the later askings: a page that shows the time changes once a second."""
MOST = 12
"""Askings per request. One of ten rows drawn at random passes for constant once in 10^11 times."""
MOST_VARYING = 120
"""Askings of a request whose content was seen to vary: its length may vary, too, but seldom. Two random numbers
up to 10,000 have 8 digits four times out of five: such a length passes for constant once in 10^10 times."""
PATIENCE_S = 0.5
"""Spent per request on askings beyond the second."""

_REDIRECTS = (301, 302, 303, 307, 308)


class TimedReply(NamedTuple):
    """An answer and what it took: seconds, and CPU seconds of this process."""

    reply: Reply
    wall_s: float
    cpu_s: float


class Asking:
    """Asks one app; ``added`` are headers that every request needs beside Host."""

    def __init__(
        self, caller: Caller, host: str, added: tuple[tuple[str, str], ...], stage: Callable[[str], None]
    ) -> None:
        self._caller = caller
        self._host = host
        self._added = added
        self._stage = stage

    def all_of(self, requests: list[RequestMessage], follow: bool) -> list[ExchangeMessage]:
        """Return one exchange per request, in order; ``follow`` permits one redirect within the site."""
        firsts = [self._first(self._prepare(request), follow) for request in requests]
        if any(reply.succeeded for _, reply, _ in firsts):
            time.sleep(PAUSE_S)
        return [self._exchange(asked, first, via) for asked, first, via in firsts]

    def _prepare(self, request: RequestMessage) -> WireRequest:
        """Return ``request`` as it goes over the wire; what the user gave himself is left alone."""
        given = tuple((name, value) for name, value in request["headers"])
        body = base64.b64decode(request["body"])
        length = (("Content-Length", str(len(body))),) if body else ()
        always = (("Host", self._host), *self._added, *length)
        missing = tuple(pair for pair in always if not header(given, pair[0].lower()))
        return WireRequest(request["method"], request["path"], missing + given, body)

    def _first(self, asked: WireRequest, follow: bool) -> tuple[WireRequest, Reply, str]:
        reply = self._ask(asked)
        target = local_target(asked, reply) if follow else ""
        if not target:
            return asked, reply, ""
        there = asked._replace(path=target)
        return there, self._ask(there), asked.path

    def _exchange(self, asked: WireRequest, first: Reply, via: str) -> ExchangeMessage:
        # the first answer is none of them: it also paid for imports and empty caches
        again = self._again(asked, first)
        second = max((answered.reply for answered in again), key=lambda reply: difference(first, reply))
        return {
            "path": asked.path,
            "via": via,
            "added": [list(pair) for pair in self._added if pair in asked.headers],
            "first": first.message(),
            "second": second.message(),
            "wall_s": median(answered.wall_s for answered in again),
            "cpu_s": median(answered.cpu_s for answered in again),
        }

    def _again(self, asked: WireRequest, first: Reply) -> list[TimedReply]:
        """Ask at least once more, until the length differs, the app fails, or patience ends."""
        answered = [self._timed(asked)]
        most = MOST
        until = time.monotonic() + PATIENCE_S
        while len(answered) < most - 1 and time.monotonic() < until:
            last = answered[-1].reply
            unlike = difference(first, last)
            if not last.succeeded or unlike > 1:
                break
            if unlike:
                most = MOST_VARYING
            answered.append(self._timed(asked))
        return answered

    def _timed(self, asked: WireRequest) -> TimedReply:
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        reply = self._ask(asked)
        return TimedReply(reply, time.perf_counter() - wall_s, time.process_time() - cpu_s)

    def _ask(self, asked: WireRequest) -> Reply:
        self._stage(f"answering {asked.method} {asked.path}")
        reply = self._caller.call(asked)
        return reply if reply.status >= 500 else reply._replace(traceback="")


def difference(first: Reply, second: Reply) -> int:
    """Return 3 when the status differs, 2 the length, 1 the content, 0 nothing."""
    if first.status != second.status:
        return 3
    if len(first.body) != len(second.body):
        return 2
    return int(first.body != second.body)


def local_target(asked: WireRequest, reply: Reply) -> str:
    """Return the path on the same site that ``reply`` redirects to, or nothing."""
    location = header(reply.headers, "location")
    if reply.status not in _REDIRECTS or not location:
        return ""
    parts = urlsplit(urljoin(f"http://{asked.host}{asked.path}", location))
    if parts.scheme != "http" or parts.netloc != asked.host:
        return ""
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return "" if target == asked.path else target
