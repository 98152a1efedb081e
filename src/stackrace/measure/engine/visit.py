"""One request at a time, as the engine sends it, and what a visitor carries from a page to later requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from stackrace.measure.workload import LARGE_HEAD, MOST_BODY_BYTES, Fill, FillPart, HandoutPlace, Request, excess

from . import _engine
from .url import form_encoded

__all__ = ["ask", "filled", "handed_out"]

_WITH_BODY = ("PATCH", "POST", "PUT")
"""Say how long their body is, even if it is empty. Source: RFC 9110 section 8.6."""
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
"""What would break out of a request's line, or out of a string of JSON."""


def ask(
    address: tuple[str, int], request: Request, host: str, *, timeout_s: float, most_bytes: int = MOST_BODY_BYTES
) -> tuple[int, tuple[tuple[str, str], ...], bytes, str]:
    """Send ``request`` once, whole, and return what is answered: status, header fields, body, and its ``excess``.

    Text is UTF-8, as it is in a load. Raises OSError for no answer, or none that the engine would take.
    """
    fields = {"Host": host, "Connection": "close", **dict(request.headers)}
    if request.body or request.method in _WITH_BODY:
        fields["Content-Length"] = str(len(request.body))
    lines = (f"{request.method} {request.path} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items()))
    message = "".join(f"{line}\r\n" for line in (*lines, "")).encode("utf-8", "surrogateescape") + request.body
    is_head = request.method == "HEAD"
    try:
        status, pairs, body, body_bytes, endless = _engine.ask(address, message, is_head, timeout_s, most_bytes)
    except OverflowError:
        return 0, (), b"", LARGE_HEAD
    except ValueError as error:
        raise OSError(str(error)) from error
    answered = tuple((name, value.decode("utf-8", "surrogateescape")) for name, value in pairs)
    return status, answered, body, excess(answered, body_bytes, endless, most_bytes)


def handed_out(request: Request, page: bytes) -> dict[int, bytes]:
    """Return what the body ``page``, the answer to ``request``, gives for later requests, by slot."""
    if not request.handouts:
        return {}
    values: dict[tuple[HandoutPlace, bytes], list[bytes]] = {}
    for name, value, _ in _engine.page_fields(page):
        values.setdefault((HandoutPlace.FIELD, name), []).append(value)
    for name, value in _engine.page_members(page):
        values.setdefault((HandoutPlace.MEMBER, name), []).append(value)
    wanted = ((item, values.get((item.place, item.name.encode()), [])) for item in request.handouts)
    return {item.slot: named[item.nth] for item, named in wanted if item.nth < len(named)}


def filled(request: Request, given: Mapping[int, bytes], cookies: Mapping[str, str]) -> Request:
    """Return ``request`` with what its visitor was given; what nothing gave stays as it was recorded."""
    for fill in sorted(request.fills, key=lambda fill: fill.start, reverse=True):
        value = given.get(fill.source) if isinstance(fill.source, int) else _bytes(cookies.get(fill.source, ""))
        if value and fill.form:
            request = _put(request, fill, form_encoded(value).encode())
        elif value and not _CONTROL.search(value):
            request = _put(request, fill, value)
    return request


def _put(request: Request, fill: Fill, value: bytes) -> Request:
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
