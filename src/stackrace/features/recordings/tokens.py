"""Hidden fields and cookies that later requests of a session send back, such as CSRF tokens.

A recorded token is not valid any more, so a replay takes a fresh one from the page that it gets. A value is traced
to the page that gave it: in forms and queries by its name and value, elsewhere by its value alone, if that has
``_LEAST_BYTES``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from ...measure.workload import Fill, FillPart, Handout, Request
from .bodies import FORM, essence
from .recorded_steps import value_of

_LEAST_BYTES = 8

_NOT_COPIED = frozenset({"accept", "accept-language", "content-type", "cookie", "origin", "referer", "user-agent"})

_PIECE = re.compile(rb'[^"\r\n]+')
"""A string of JSON, or a line of a multipart form."""

PageFields = Sequence[tuple[bytes, bytes, bool]]
"""The fields of a page: name, value, and True if a browser sends the field without showing it."""


class _Origin(NamedTuple):
    """A field: the step whose answer has it, its name, and its number among the fields of that name, from 0."""

    step: int
    name: bytes
    nth: int


class _Piece(NamedTuple):
    """A piece of a request that may be a token."""

    part: FillPart
    start: int
    text: bytes
    header: str = ""
    name: bytes | None = None
    """The field's name in a form or a query; None elsewhere."""

    @property
    def value(self) -> bytes:
        """The piece without the encoding of forms."""
        return self.text if self.name is None else _decoded(self.text)


def with_tokens(requests: Sequence[Request], pages: Sequence[PageFields]) -> list[Request]:
    """Return ``requests`` with the tokens that pages hand out, and the places where later requests send them.

    ``pages`` has the fields of the answer to each request. A page that hands out a token is requested without a
    content coding, so that its fields can be read.
    """
    given: dict[tuple[bytes | None, bytes], _Origin] = {}
    slots: dict[_Origin, int] = {}
    filled = []
    for step, (request, page) in enumerate(zip(requests, pages, strict=True)):
        cookies, fills = _cookies(request), []
        for place in _pieces(request):
            origin = given.get((place.name, place.value)) or given.get((None, place.value))
            source = cookies.get(place.value) if origin is None else slots.setdefault(origin, len(slots))
            if source is not None:
                part, start, text, header, name = place
                end, is_form = start + len(text), name is not None
                fills.append(Fill(part=part, header=header, start=start, end=end, source=source, form=is_form))
        filled.append(replace(request, fills=tuple(fills)))
        given.update(_origins(step, page))
    handouts: dict[int, list[Handout]] = {}
    for origin, slot in slots.items():
        handout = Handout(name=origin.name.decode("utf-8", "replace"), nth=origin.nth, slot=slot)
        handouts.setdefault(origin.step, []).append(handout)
    return [
        replace(request.without({"accept-encoding"}), handouts=tuple(handouts[step]))
        if step in handouts
        else request
        for step, request in enumerate(filled)
    ]


def _origins(step: int, page: PageFields) -> Iterator[tuple[tuple[bytes | None, bytes], _Origin]]:
    counts: dict[bytes, int] = {}
    for name, value, hidden in page:
        origin = _Origin(step, name, counts.get(name, 0))
        counts[name] = origin.nth + 1
        if hidden and value:
            yield (name, value), origin
            if len(value) >= _LEAST_BYTES:
                yield (None, value), origin


def _cookies(request: Request) -> dict[bytes, str]:
    """Return the names of the cookies that ``request`` sends, by their values of ``_LEAST_BYTES`` or more."""
    sent = (value for name, value in request.headers if name.lower() == "cookie")
    split = (pair.strip().partition("=") for value in sent for pair in value.split(";"))
    return {value.encode(): name for name, _, value in split if name and len(value) >= _LEAST_BYTES}


def _pieces(request: Request) -> Iterator[_Piece]:
    """Yield the pieces of a request that an earlier page may have given; no two overlap."""
    path, _, query = request.path.encode().partition(b"?")
    yield from _fields(FillPart.PATH, len(path) + 1, query)
    if essence(value_of(request.headers, "content-type") or "") == FORM:
        yield from _fields(FillPart.BODY, 0, request.body)
    else:
        yield from (_Piece(FillPart.BODY, piece.start(), piece[0]) for piece in _PIECE.finditer(request.body))
    # the first header of each name
    headers = {name.lower(): (name, value) for name, value in reversed(request.headers)}
    for key, (name, value) in headers.items():
        if key not in _NOT_COPIED:
            yield _Piece(FillPart.HEADER, 0, value.encode(), name)


def _fields(part: FillPart, start: int, text: bytes) -> Iterator[_Piece]:
    for pair in text.split(b"&"):
        name, equals, value = pair.partition(b"=")
        yield _Piece(part, start + len(name) + len(equals), value, name=_decoded(name))
        start += len(pair) + 1


def _decoded(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))
