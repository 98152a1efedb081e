"""One entry of a HAR file, examined by itself: a request that could be replayed, or the reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ...measure.engine._engine import page_fields
from ...measure.engine.url import is_token, split_url
from ...measure.workload import Request
from .bodies import PAGE_TYPES, Fields, answered, decoded, essence, fields, number, pairs, sent, text
from .recorded_steps import LeftOut, Skip, replayable, value_of
from .tokens import PageFields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_MS = 24 * 3600 * 1000.0
"""Longest time of an answer: a longer one is an error of the exporter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A recorded request that could be replayed."""

    request: Request
    """The request to replay: without a pause, and not embedded in a page."""
    origin: str = ""
    """Server that got the request, as "http://host:port" without a default port."""
    status: int = 200
    answer_type: str = ""
    """The answer's media type; empty if unknown."""
    answer: bytes | None = None
    """The answer's body; None if its bytes are not certain."""
    resource_type: str | None = None
    """Purpose of the request for the browser, in Chromium's words."""
    page: str | None = None
    """Exporter's name of the page that the request belongs to."""
    started_ns: int | None = None
    """Time when the request was sent, since 1970; None without a readable date."""
    took_ns: int = 0
    """Time until the answer was complete."""
    fields: PageFields = ()
    """Form fields of the page in the answer."""

    @property
    def ended_ns(self) -> int | None:
        """Time when the answer was complete, since 1970; None without a readable date."""
        return None if self.started_ns is None else self.started_ns + self.took_ns


def judge(entry: object) -> Candidate:
    """Return the request of one entry; raises LeftOut, with the reason, if it cannot be replayed."""
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise LeftOut(Skip.UNREADABLE)
    request, response = fields(entry["request"]), fields(entry.get("response"))
    post_data, content = fields(request.get("postData")), fields(response.get("content"))
    method, url = text(request.get("method")), text(request.get("url"))
    if method is None or url is None:
        raise LeftOut(Skip.UNREADABLE)
    # CONNECT is for proxies, and no visitor sends TRACE
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
    # an answer to HEAD has no body, and the recorded body of a 304 comes from the browser's cache
    has_body = method != "HEAD" and status != 304
    # the text as the exporter decoded it, whatever the content coding was
    page = decoded(content) if essence(answer_type) in PAGE_TYPES else None
    return Candidate(
        request=Request(path=address.path, method=method, headers=headers, body=body),
        origin=address.origin,
        status=status,
        answer_type=answer_type,
        answer=answered(content, answer_headers) if has_body else None,
        resource_type=text(entry.get("_resourceType")),
        page=text(entry.get("pageref")),
        started_ns=moment_ns(text(entry.get("startedDateTime")) or ""),
        took_ns=int(min(max(number(entry.get("time")) or 0.0, 0.0), _LONGEST_MS) * 1e6),
        fields=page_fields(page) if page else (),
    )


def _status(entry: Fields, response: Fields) -> int:
    """Return the answer's status; raises LeftOut if no server gave a complete answer."""
    if entry.get("response") is None:
        raise LeftOut(Skip.NO_ANSWER)
    status = int(number(response.get("status")) or 0)
    is_web_socket = status == 101 or text(entry.get("_resourceType")) == "websocket"
    if is_web_socket or entry.get("_webSocketMessages") is not None:
        raise LeftOut(Skip.WEB_SOCKET)
    if entry.get("_fromCache") is not None or response.get("_fetchedViaServiceWorker") is True:
        raise LeftOut(Skip.BROWSER_ANSWER)
    if text(response.get("_error")) or not 200 <= status < 600:
        raise LeftOut(Skip.NO_ANSWER)
    return status


def moment_ns(written: str) -> int | None:
    """Return an ISO 8601 date, in UTC if it has no offset, in nanoseconds since 1970; None if it is unreadable."""
    try:
        moment = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1) * 1000
