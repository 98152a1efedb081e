"""One entry of a HAR file, judged by itself: a request that could be replayed, or why not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...measure.engine import _engine
from ...measure.engine._engine import page_fields
from ...measure.engine.url import is_token, split_url
from ...measure.workload import Request
from .bodies import PAGE_TYPES, Fields, Pairs, answered, decoded, essence, fields, number, pairs, sent, text
from .moments import iso_8601
from .steps import LeftOut, Skip, replayable, value_of

_MAX_NS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What is known of a request that could be replayed."""

    request: Request
    """The request to replay, by itself: without a pause, and as no part of a page."""
    origin: str = ""
    """Where it was sent, as "http://host:port" without a default port."""
    body_type: str = ""
    """The media type of its body; empty where it is not known."""
    status: int = 200
    answer_type: str = ""
    """The answer's media type; empty where it is not known."""
    answer: bytes | None = None
    """The answer's body; None where its bytes are not certain."""
    resource_type: str | None = None
    """What the browser wanted it for, in Chromium's words."""
    page: str | None = None
    """The page it belongs to, by the exporter's name."""
    started_ns: int | None = None
    """When it was sent, since 1970; None where there is no readable date."""
    took_ns: int = 0
    """How long its answer took."""
    fields: tuple[tuple[bytes, bytes, bool], ...] = ()
    """The fields of a page it was answered with: name, value, and whether a browser sends it unseen."""
    secrets: tuple[_Secret, ...] = ()
    """Strings of a page or JSON that look random."""
    sent_cookies: Pairs = ()
    given_cookies: Pairs = ()
    """Those that the answer sets."""

    @property
    def ended_ns(self) -> int | None:
        """When its answer was complete."""
        return None if self.started_ns is None else self.started_ns + self.took_ns


def judge(entry: object) -> Candidate:
    """Judge one entry; LeftOut says why it is left out."""
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise LeftOut(Skip.UNREADABLE)
    request, response = fields(entry["request"]), fields(entry.get("response"))
    post_data, content = fields(request.get("postData")), fields(response.get("content"))
    method, url = text(request.get("method")), text(request.get("url"))
    if method is None or url is None:
        raise LeftOut(Skip.UNREADABLE)
    # CONNECT is for proxies, and TRACE is no visitor's
    if not is_token(method) or method in ("CONNECT", "TRACE"):
        raise LeftOut(Skip.METHOD)
    address = split_url(url.encode())
    if address is None:
        raise LeftOut(Skip.SCHEME)
    status = _status(entry, response)
    answer_headers = pairs(response.get("headers"))
    answer_type = text(content.get("mimeType")) or value_of(answer_headers, "content-type") or ""
    if text(entry.get("_resourceType")) == "eventsource" or essence(answer_type) == "text/event-stream":
        raise LeftOut(Skip.EVENT_STREAM)
    recorded = pairs(request.get("headers"))
    body, body_type = sent(request, recorded), text(post_data.get("mimeType")) or ""
    headers = replayable(recorded)
    if body and body_type and value_of(headers, "content-type") is None:
        headers += replayable([("Content-Type", body_type)])
    # an answer to HEAD has no body, and that of 304 is the cache's
    has_body = method != "HEAD" and status != 304
    is_page = essence(answer_type) in PAGE_TYPES
    # what the exporter decoded, whatever its coding was
    page = decoded(content) or b""
    return Candidate(
        request=Request(path=address.path, method=method, headers=headers, body=body),
        origin=address.origin,
        body_type=body_type,
        status=status,
        answer_type=answer_type,
        answer=answered(content, answer_headers) if has_body else None,
        resource_type=text(entry.get("_resourceType")),
        page=text(entry.get("pageref")),
        started_ns=iso_8601(text(entry.get("startedDateTime")) or ""),
        took_ns=min(int(max(number(entry.get("time")) or 0.0, 0.0) * 1e6), _MAX_NS),
        fields=tuple(page_fields(page)) if is_page else (),
        secrets=tuple(_secrets(page)) if is_page or essence(answer_type).endswith("json") else (),
        sent_cookies=_cookies(recorded, "cookie", ";"),
        given_cookies=pairs(response.get("cookies")) or _cookies(answer_headers, "set-cookie", "\n"),
    )


def _status(entry: Fields, response: Fields) -> int:
    """Return the answer's status, if a server gave one to the end."""
    if entry.get("response") is None:
        raise LeftOut(Skip.NO_ANSWER)
    status = int(number(response.get("status")) or 0)
    is_web_socket = status == 101 or text(entry.get("_resourceType")) == "websocket"
    if is_web_socket or entry.get("_webSocketMessages") is not None:
        raise LeftOut(Skip.WEB_SOCKET)
    if entry.get("_fromCache") is not None or response.get("_fetchedViaServiceWorker") is True:
        raise LeftOut(Skip.OWN_ANSWER)
    if text(response.get("_error")) or not 200 <= status < 600:
        raise LeftOut(Skip.NO_ANSWER)
    return status


def _cookies(headers: Pairs, name: str, separator: str) -> Pairs:
    """Return names and values; an exporter may have joined several headers with line breaks."""
    texts = (part for header, value in headers if header.lower() == name for part in value.split(separator))
    split = (text.partition(";")[0].partition("=") for text in texts)
    return tuple((key.strip(), value.strip()) for key, equals, value in split if equals and key.strip())


_WORD = re.compile(rb"[0-9A-Za-z_+/.~-]{16,}={0,2}")
_CHANGE = re.compile(rb"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[a-z])")
_BYTES_A_CHANGE = 8
"""Random hexadecimal digits change between letters and digits at every other byte; names and dates seldom do."""


class _Secret(NamedTuple):
    """A named string, by its number among those of that name."""

    name: bytes
    nth: int
    value: bytes


def _secrets(body: bytes) -> Iterator[_Secret]:
    """Yield the strings of JSON or a page that look random."""
    counts: dict[bytes, int] = {}
    for name, value in _engine.page_members(body):
        nth = counts.setdefault(name, 0)
        counts[name] += 1
        if _is_random(value):
            yield _Secret(name, nth, value)


def words(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what may be a secret in ``text``, and where it begins."""
    return ((match.start(), match[0]) for match in _WORD.finditer(text))


def _is_random(value: bytes) -> bool:
    changes = len(_CHANGE.findall(value)) if _WORD.fullmatch(value) else 0
    return changes * _BYTES_A_CHANGE >= len(value) and any(byte in b"0123456789" for byte in value)
