"""Visitor that sends each request once to a launched stack: is the stack ready, and are its answers right?

The visitor sends one request at a time, as the engine does, and sends values of a page back in later requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..workload import (
    LARGE_HEAD,
    MOST_BODY_BYTES,
    Answer,
    AnswerOrigin,
    Fill,
    FillPart,
    Request,
    Sameness,
    Workload,
    alike_in_size,
    excess,
)
from . import _engine
from .url import form_encoded

_WITH_BODY = ("PATCH", "POST", "PUT")
"""Methods that state the length of their body even if it is empty. Source: RFC 9110 section 8.6."""
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
"""Characters that would break out of a request's line, or out of a JSON string."""


def written(request: Request, host: str, **fields: str) -> bytes:
    """Return ``request`` as it is sent, whole, with more header ``fields``; text is UTF-8, as in a load."""
    fields = {"Host": host, **fields, **dict(request.headers)}
    if request.body or request.method in _WITH_BODY:
        fields["Content-Length"] = str(len(request.body))
    lines = (f"{request.method} {request.path} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items()))
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "surrogateescape") + request.body


def ask(
    address: tuple[str, int], request: Request, host: str, *, timeout_s: float, most_bytes: int = MOST_BODY_BYTES
) -> tuple[int, tuple[tuple[str, str], ...], bytes, str]:
    """Send ``request`` once, whole, and return the answer: status, header fields, body, and its ``excess``.

    Raise OSError if there is no answer, or if the engine would not accept it.
    """
    message = written(request, host, Connection="close")
    is_head = request.method == "HEAD"
    try:
        status, pairs, body, body_bytes, endless = _engine.ask(address, message, is_head, timeout_s, most_bytes)
    except OverflowError:
        return 0, (), b"", LARGE_HEAD
    except ValueError as error:
        raise OSError(str(error)) from error
    answered = tuple((name, value.decode("utf-8", "surrogateescape")) for name, value in pairs)
    return status, answered, body, excess(answered, body_bytes, endless, most_bytes)


def _handed_out(request: Request, page: bytes) -> dict[int, bytes]:
    """Return the values in ``page``, the body that answers ``request``, for later requests, by slot."""
    if not request.handouts:
        return {}
    values: dict[bytes, list[bytes]] = {}
    for name, value, _ in _engine.page_fields(page):
        values.setdefault(name, []).append(value)
    wanted = ((item, values.get(item.name.encode(), [])) for item in request.handouts)
    return {item.slot: named[item.nth] for item, named in wanted if item.nth < len(named)}


def _filled(request: Request, given: Mapping[int, bytes], cookies: Mapping[str, str]) -> Request:
    """Return ``request`` with the values that its visitor received; the rest stays as it was recorded."""
    for fill in sorted(request.fills, key=lambda fill: fill.start, reverse=True):
        value = given.get(fill.source) if isinstance(fill.source, int) else _bytes(cookies.get(fill.source, ""))
        if value and fill.form:
            request = _with_value(request, fill, form_encoded(value).encode())
        elif value and not _CONTROL.search(value):
            request = _with_value(request, fill, value)
    return request


def _with_value(request: Request, fill: Fill, value: bytes) -> Request:
    if fill.part is FillPart.PATH:
        return replace(request, path=_text(_spliced(_bytes(request.path), fill, value)))
    if fill.part is FillPart.BODY:
        return replace(request, body=_spliced(request.body, fill, value))
    headers, done = [], False
    for name, text in request.headers:
        if not done and name.lower() == fill.header.lower():
            text, done = _text(_spliced(_bytes(text), fill, value)), True
        headers.append((name, text))
    return replace(request, headers=tuple(headers))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogateescape")


def _spliced(text: bytes, fill: Fill, value: bytes) -> bytes:
    return text[: fill.start] + value + text[fill.end :]


_MOST_QUESTIONS = 50
"""Most requests of a workload that a start sends one by one: a recorded session may have a million."""


def questions(workload: Workload) -> list[tuple[Request, Answer]]:
    """Return the first ``_MOST_QUESTIONS`` different requests with their golden answers, in order."""
    wanted: dict[tuple[str, str, bytes, int], tuple[Request, Answer]] = {}
    for number, (request, golden) in enumerate(zip(workload.requests, workload.answers, strict=True)):
        if len(wanted) == _MOST_QUESTIONS:
            break
        # a page that gives tokens gives new ones each time, and tokens from before a login are invalid after it
        turn = number if request.handouts or request.fills else -1
        wanted.setdefault((request.method, request.path, request.body, turn), (request, golden))
    return list(wanted.values())


class Visitor:
    """Client of the stack at ``host`` and ``port`` that sends back cookies and fields as visitors do."""

    def __init__(self, host: str, port: int, workload: Workload, most_bytes: int = MOST_BODY_BYTES) -> None:
        self._host, self._port = host, port
        self._workload = workload
        self._most_bytes = most_bytes
        self._cookies: dict[str, str] = {}
        self._given: dict[int, bytes] = {}

    def ask(self, request: Request, timeout_s: float) -> Reply:
        """Send ``request`` and return the answer; raise OSError if there is none."""
        asked = request
        request = _filled(request, self._given, self._cookies)
        if self._cookies:
            value = "; ".join(f"{name}={text}" for name, text in self._cookies.items())
            request = replace(request, headers=(*request.headers, ("Cookie", value)))
        address, host = (self._host, self._port), self._workload.host
        status, fields, body, beyond = ask(address, request, host, timeout_s=timeout_s, most_bytes=self._most_bytes)
        cookies = tuple(value for name, value in fields if name.lower() == "set-cookie")
        server = next((value for name, value in fields if name.lower() == "server"), "")
        reply = Reply(status, body, cookies, beyond, server)
        if self._workload.cookies:
            self._keep(reply)
        self._given.update(_handed_out(asked, reply.body))
        return reply

    def _keep(self, reply: Reply) -> None:
        """Keep the reply's cookies for the visit. Attributes do not matter, since only one site is visited."""
        for line in reply.cookies:
            pair, *attributes = line.split(";")
            name, equals, text = pair.partition("=")
            if not equals or not name.strip():
                continue
            self._cookies.pop(name.strip(), None)
            gone = any(attribute.replace(" ", "").lower() == "max-age=0" for attribute in attributes)
            if not gone and len(self._cookies) < _MOST_QUESTIONS:
                self._cookies[name.strip()] = text.strip()


_WHO = {
    AnswerOrigin.APP: "the app itself answers",
    AnswerOrigin.USER: "the app itself answers",
    AnswerOrigin.FILE: "a static file is sent with",
    AnswerOrigin.RECORDING: "the recording has",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a stack."""

    status: int
    body: bytes
    cookies: tuple[str, ...] = ()
    """Values of the Set-Cookie headers."""
    excess: str = ""
    """Reason why the answer cannot be raced: it is too large, or does not end; ``body`` is not whole then."""
    server: str = ""
    """Value of the Server header."""


def difference(reply: Reply, golden: Answer) -> str:
    """Return a description of how ``reply`` differs from the golden answer; empty if it does not."""
    if reply.excess:
        return f"an answer that {reply.excess}"
    if golden.status is None and not 200 <= reply.status < 300:
        return f"status {reply.status} where a success was expected"
    if golden.status is not None and reply.status != golden.status:
        return f"status {reply.status} where {_WHO[golden.origin]} {golden.status}"
    if golden.sameness is Sameness.BODY and reply.body != golden.body:
        return f"a body of {len(reply.body)} bytes that differs from the app's own {len(golden.body)}"
    if golden.sameness is Sameness.LENGTH and len(reply.body) != len(golden.body):
        return f"{len(reply.body)} bytes where the app itself answers {len(golden.body)}"
    if golden.sameness is Sameness.SIZE and not alike_in_size(reply.body, golden.body):
        return f"{len(reply.body)} bytes where the app itself answers about {len(golden.body)}"
    if golden.sameness is Sameness.PARTS and not _has_parts(reply.body, golden.parts):
        return f"a body of {len(reply.body)} bytes {_missing_part(reply.body, golden.parts)}"
    return ""


def _has_parts(body: bytes, parts: Sequence[bytes]) -> bool:
    """Return True if ``body`` starts with the first part, ends with the last and has the others between them."""
    first, *others, last = parts
    at, end = len(first), len(body) - len(last)
    for part in others:
        # the earliest place leaves the other parts the most room, so no other place needs to be tried
        found = body.find(part, at, max(end, 0))
        if found < 0:
            return False
        at = found + len(part)
    return at <= end and body.startswith(first) and body.endswith(last)


def _missing_part(body: bytes, parts: Sequence[bytes]) -> str:
    part = next((part for part in parts if part not in body), b"")
    if not part:
        return "that has the app's own parts in another order"
    return f"without {part[:80].decode('utf-8', 'replace')!r}"
