"""What recorded answers gave for later requests: fields of forms, ``<meta>``, strings of JSON and scripts, cookies.

A browser sends what the page in front of it says. A token in a recorded form is spent, so a replay takes the fresh
one out of the answer it gets. What a request sends is traced to an answer by its value: an equal name and value for
a form's field, an equal value of at least ``_LEAST_BYTES`` where a script may have copied it, and of what stands in
JSON and scripts only what looks random.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from ...measure.workload import Fill, FillPart, Handout, HandoutPlace, Request
from .bodies import FORM, essence
from .candidate import Candidate, words
from .steps import value_of

_LEAST_BYTES = 8
"""Shorter values may be equal by chance."""

_MOST_SEARCHED_BYTES = 1 << 20
"""Of a body that is no urlencoded form: the fields of a form with an upload mostly stand before the file."""

_NOT_COPIED = frozenset({"accept", "accept-language", "content-type", "cookie", "origin", "referer", "user-agent"})
"""Headers that a browser writes by itself."""


class _Origin(NamedTuple):
    """Where a value was given: the step, and which of its answer's fields or strings."""

    step: int
    place: HandoutPlace
    name: bytes
    nth: int


class _Use(NamedTuple):
    """A value in a request."""

    part: FillPart
    header: str
    start: int
    end: int
    name: bytes
    value: bytes
    form: bool


def with_tokens(requests: Sequence[Request], candidates: Sequence[Candidate]) -> list[Request]:
    """Return ``requests`` with what each page hands out and where later ones send it.

    A page that hands something out is asked for without a content coding, so that its fields can be read.
    """
    given = _Given()
    fills = []
    for number, (request, candidate) in enumerate(zip(requests, candidates, strict=True)):
        given.know_cookies(candidate.sent_cookies)
        fills.append(tuple(_apart(given.fill(use) for use in _uses(request, candidate.body_type, given))))
        given.know(number, candidate)
    return [
        _finished(request, given.handouts(number), filled)
        for number, (request, filled) in enumerate(zip(requests, fills, strict=True))
    ]


def _finished(request: Request, handouts: tuple[Handout, ...], fills: tuple[Fill, ...]) -> Request:
    readable = request.without({"accept-encoding"}) if handouts else request
    return replace(readable, handouts=handouts, fills=fills)


@dataclass(slots=True)
class _Given:
    """What the pages so far gave."""

    fields: dict[tuple[bytes, bytes], _Origin] = field(default_factory=dict)
    """By name and value, of the latest page that has it."""
    values: dict[bytes, _Origin] = field(default_factory=dict)
    """The long ones by value alone."""
    secrets: dict[bytes, _Origin] = field(default_factory=dict)
    """What looks random in JSON and scripts."""
    made: dict[bytes, _Origin] = field(default_factory=dict)
    """Those of them that came of what the visitor did, as the id of what a POST made."""
    cookies: dict[bytes, str] = field(default_factory=dict)
    """Names by long value."""
    slots: dict[_Origin, int] = field(default_factory=dict)
    """Of those that are sent."""

    def know(self, number: int, candidate: Candidate) -> None:
        """Take in what the answer to step ``number`` gives."""
        counts: dict[bytes, int] = {}
        for name, value, hidden in candidate.fields:
            origin = _Origin(number, HandoutPlace.FIELD, name, counts.setdefault(name, 0))
            counts[name] += 1
            if hidden and value:
                self.fields[name, value] = origin
                if len(value) >= _LEAST_BYTES:
                    self.values[value] = origin
        for secret in candidate.secrets:
            origin = _Origin(number, HandoutPlace.MEMBER, secret.name, secret.nth)
            self.secrets[secret.value] = origin
            if candidate.request.method not in ("GET", "HEAD"):
                self.made[secret.value] = origin
        self.know_cookies(candidate.given_cookies)

    def know_cookies(self, cookies: Sequence[tuple[str, str]]) -> None:
        """Take in cookies by their values."""
        self.cookies.update((value.encode(), name) for name, value in cookies if len(value) >= _LEAST_BYTES)

    def fill(self, use: _Use) -> Fill | None:
        """Return the place for ``use`` with where its value comes from; None where nothing gave it."""
        origin = self.fields.get((use.name, use.value)) or self.values.get(use.value) or self.secrets.get(use.value)
        if origin is None and use.value not in self.cookies:
            return None
        source: int | str = (
            self.cookies[use.value] if origin is None else self.slots.setdefault(origin, len(self.slots))
        )
        return Fill(part=use.part, header=use.header, start=use.start, end=use.end, source=source, form=use.form)

    def handouts(self, number: int) -> tuple[Handout, ...]:
        """Return what later steps need of the answer to step ``number``."""
        return tuple(
            Handout(place=origin.place, name=origin.name.decode("utf-8", "replace"), nth=origin.nth, slot=slot)
            for origin, slot in self.slots.items()
            if origin.step == number
        )


def _uses(request: Request, body_type: str, given: _Given) -> Iterator[_Use]:
    """Yield whatever in a request an earlier answer may have given."""
    path, mark, query = request.path.partition("?")
    for segment in re.finditer(r"[^/]+", path):
        if segment[0].encode() in given.made:
            yield _Use(FillPart.PATH, "", *segment.span(), b"", segment[0].encode(), True)
    if mark:
        yield from _form_uses(query.encode(), FillPart.PATH, len(request.path) - len(query))
    if essence(body_type or value_of(request.headers, "content-type") or "") == FORM:
        yield from _form_uses(request.body, FillPart.BODY, 0)
    else:
        beginning = request.body[:_MOST_SEARCHED_BYTES]
        yield from _copies(beginning, given)
        yield from _secrets(beginning, FillPart.BODY, "", given)
    known: set[str] = set()
    for name, value in request.headers:
        if name.lower() not in _NOT_COPIED | known:
            text = value.encode()
            yield _Use(FillPart.HEADER, name, 0, len(text), b"", text, False)
            yield from _secrets(text, FillPart.HEADER, name, given)
        known.add(name.lower())


def _form_uses(text: bytes, part: FillPart, offset: int) -> Iterator[_Use]:
    for pair in text.split(b"&"):
        name, equals, value = pair.partition(b"=")
        start = offset + len(name) + len(equals)
        yield _Use(part, "", start, start + len(value), _decoded(name), _decoded(value), True)
        offset += len(pair) + 1


def _copies(body: bytes, given: _Given) -> Iterator[_Use]:
    """Yield the long values that stand somewhere in a body, as in JSON or a multipart form."""
    for value in (*given.values, *given.cookies):
        start = body.find(value)
        while start >= 0:
            end = start + len(value)
            yield _Use(FillPart.BODY, "", start, end, b"", value, False)
            start = body.find(value, end)


def _secrets(text: bytes, part: FillPart, header: str, given: _Given) -> Iterator[_Use]:
    """Yield the words that look random, as in ``Authorization: Bearer …``."""
    for start, word in words(text):
        if word in given.secrets:
            yield _Use(part, header, start, start + len(word), b"", word, False)


def _apart(fills: Iterator[Fill | None]) -> Iterator[Fill]:
    """Yield fills that do not overlap; of two that do, the first."""
    taken: list[Fill] = []
    for fill in fills:
        if fill is not None and not any(_overlap(fill, other) for other in taken):
            taken.append(fill)
            yield fill


def _overlap(fill: Fill, other: Fill) -> bool:
    same = (fill.part, fill.header.lower()) == (other.part, other.header.lower())
    return same and fill.start < other.end and other.start < fill.end


def _decoded(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))
