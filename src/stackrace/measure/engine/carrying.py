"""What a visitor carries from page to request, as the engine does it; for who asks one question at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from stackrace.measure.workload import Fill, FillPart, HandoutPlace, Request

from . import _engine
from .target import form_encoded

__all__ = ["filled", "handed_out"]

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
"""What would break out of a request's line, or out of a string of JSON."""


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
