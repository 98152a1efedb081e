"""Send every request to the app often enough to see which parts of its answers stay the same."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from .callers import Caller
from .messages import ExchangeReport, Reply, RequestMessage, WireRequest, header

_PAUSE_S = 1.1
"""Seconds between the first and the second asking: a page that shows the time changes once a second."""
_MOST = 12
"""Most askings per request. A page that draws one of ten rows at random seems constant once in 10^11 times."""
_MOST_VARYING = 120
"""Most askings of a request whose content varies: its length may vary, too, but seldom. Two random numbers
up to 10,000 have 8 digits four times out of five: such a length seems constant once in 10^10 times."""
_PATIENCE_S = 0.5
"""Most seconds per request for askings after the first."""
_MOST_IN_DOUBT = 1000
"""Most askings to check a wrong answer of a stack: a variant of one answer in a hundred is missed once in 20,000
times."""
_PATIENCE_IN_DOUBT_S = 3.0
_RARE = 0.25
"""Largest share of answers that differ from the first one, for a page that seldom differs."""
_AGAIN, _LEAST_AGAIN = 24, 8
"""Further answers of such a page, if they come quickly, and in any case. Of two equally frequent variants, one is
among 24 answers at most six times in one of a hundred cases."""
_MOST_BRIEFLY = 3
"""Most askings of a request, such as a page of a crawl, of which only the status and the time are needed."""
_PATIENCE_BRIEFLY_S = 0.2

_FORWARDED_FOR = ("X-Forwarded-For", "127.0.0.1")
"""Header that proxies send beside X-Forwarded-Proto; lighttpd trusts that header only beside this one."""

_MOST_REDIRECTS = 5
"""Most redirects that are followed in a row; a front page that leads to a list and then to a login has two."""
_REDIRECTS = (301, 302, 303, 307, 308)


if TYPE_CHECKING:  # Python 3.8 cannot run this line
    Headers = tuple[tuple[str, str], ...]


def _nothing() -> None:
    pass


class Asking:
    """Sends requests to one app; ``added`` are headers that every request needs beside Host.

    With ``in_doubt``, each request is sent more often; with ``briefly``, less often.
    """

    def __init__(
        self,
        caller: Caller,
        host: str,
        added: Headers,
        stage: Callable[[str], None],
        in_doubt: bool = False,
        briefly: bool = False,
    ) -> None:
        self._most = _MOST_IN_DOUBT if in_doubt else _MOST_BRIEFLY if briefly else _MOST
        self._patience_s = _PATIENCE_IN_DOUBT_S if in_doubt else _PATIENCE_BRIEFLY_S if briefly else _PATIENCE_S
        self._caller = caller
        self._host = host
        self._added = added
        # headers that the servers' requests will need, too
        self._lasting = (*added, _FORWARDED_FOR)
        self._stage = stage

    def all_of(
        self, requests: Sequence[RequestMessage], follow: bool, after_first: Callable[[], None] = _nothing
    ) -> list[ExchangeReport]:
        """Return one exchange per request, in order; ``follow`` permits redirects within the site.

        ``after_first`` is called as soon as every request has its first answer.
        """
        missing = [self._missing_headers(request) for request in requests]
        pairs = zip(requests, missing)  # noqa: B905 - Python 3.8 knows no strict
        firsts = [self._first(_wire_request(request, lacked), follow) for request, lacked in pairs]
        after_first()
        if any(reply.succeeded for _, reply, _ in firsts):
            time.sleep(_PAUSE_S)
        return [
            self._exchange(asked, first, via, [pair for pair in lacked if pair in self._lasting])
            for (asked, first, via), lacked in zip(firsts, missing)  # noqa: B905
        ]

    def page(self, request: RequestMessage) -> ExchangeReport:
        """Return the exchange of one request without any pause; redirects within the site are followed."""
        missing = self._missing_headers(request)
        asked, first, via = self._first(_wire_request(request, missing), follow=True)
        return self._exchange(asked, first, via, [pair for pair in missing if pair in self._lasting])

    def glance(self, request: RequestMessage) -> tuple[int, bytes]:
        """Return the status and the body of a single answer; redirects within the site are followed."""
        _, reply, _ = self._first(_wire_request(request, self._missing_headers(request)), follow=True)
        return reply.status, reply.body

    def _missing_headers(self, request: RequestMessage) -> Headers:
        given = _given_headers(request)
        length = (("Content-Length", str(len(base64.b64decode(request["body"])))),) if request["body"] else ()
        always = (("Host", self._host), *self._added, *length)
        if header((*given, *self._added), "X-Forwarded-Proto"):
            always += (_FORWARDED_FOR,)
        return tuple(pair for pair in always if not header(given, pair[0]))

    def _first(self, asked: WireRequest, follow: bool) -> tuple[WireRequest, Reply, str]:
        here, reply, passed = asked, self._ask(asked), {asked.path}
        while follow and len(passed) <= _MOST_REDIRECTS:
            target = _local_target(here, reply)
            if not target or target in passed:
                break
            passed.add(target)
            here = asked._replace(path=target)
            reply = self._ask(here)
        return here, reply, "" if here is asked else asked.path

    def _exchange(self, asked: WireRequest, first: Reply, via: str, added: list[tuple[str, str]]) -> ExchangeReport:
        # the first answer is not timed: it includes imports and empty caches
        second, times, changed = self._ask_again(asked, first)
        return ExchangeReport(
            path=asked.path,
            via=via,
            added=tuple(added),
            first=first,
            second=second,
            wall_s=median(wall_s for wall_s, _ in times),
            cpu_s=median(cpu_s for _, cpu_s in times),
            rarely=0 < changed <= len(times) * _RARE and self._is_mostly(asked, first),
        )

    def _ask_again(self, asked: WireRequest, first: Reply) -> tuple[Reply, list[tuple[float, float]], int]:
        """Ask again until the length differs, the app fails, the answer does not end, or time or askings run out.

        Return the answer that differs most from ``first``, the time of each (seconds, and CPU seconds of this
        process), and how many differed.
        """
        if first.endless:
            return first, [(0.0, 0.0)], 0
        second, most_unlike, times, changed = first, -1, [], 0
        most = self._most
        until = time.monotonic() + self._patience_s
        while True:
            wall_s, cpu_s = time.perf_counter(), time.process_time()
            last = self._ask(asked)
            times.append((time.perf_counter() - wall_s, time.process_time() - cpu_s))
            unlike = _difference(first, last)
            changed += unlike > 0
            if unlike > most_unlike:
                second, most_unlike = last, unlike
            if unlike == 1:
                most = max(most, _MOST_VARYING)
            is_over = len(times) >= most - 1 or time.monotonic() >= until
            if is_over or not last.succeeded or unlike > 1 or last.endless:
                return second, times, changed

    def _is_mostly(self, asked: WireRequest, first: Reply) -> bool:
        """Tell whether few further answers differ from the first; of a page that shows the time all do."""
        again, differing, until = 0, 0, time.monotonic() + _PATIENCE_IN_DOUBT_S
        while again < _LEAST_AGAIN or (again < _AGAIN and time.monotonic() < until):
            differing += _difference(first, self._ask(asked)) > 0
            again += 1
        return differing <= _RARE * again

    def _ask(self, asked: WireRequest) -> Reply:
        self._stage(f"answering {asked.method} {asked.path}")
        reply = self._caller.call(asked)
        return reply if reply.status >= 500 else replace(reply, traceback="")


def _given_headers(request: RequestMessage) -> Headers:
    return tuple((name, value) for name, value in request["headers"])


def _wire_request(request: RequestMessage, missing: Headers) -> WireRequest:
    body = base64.b64decode(request["body"])
    return WireRequest(request["method"], request["path"], missing + _given_headers(request), body)


def _difference(first: Reply, second: Reply) -> int:
    """Return 3 if the status differs, 2 if the length does, 1 if only the content does, else 0."""
    if first.status != second.status:
        return 3
    if (len(first.body), first.body_bytes) != (len(second.body), second.body_bytes):
        return 2
    return int(first.body != second.body)


def _local_target(asked: WireRequest, reply: Reply) -> str:
    location = reply.header("location")
    if reply.status not in _REDIRECTS or not location:
        return ""
    parts = urlsplit(urljoin(f"http://{asked.host}{asked.path}", location))
    if parts.scheme != "http" or parts.netloc != asked.host:
        return ""
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return "" if target == asked.path else target
