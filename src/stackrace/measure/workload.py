"""Which requests are sent, what a right answer looks like, and how long the app takes for it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean

from stackrace.base.errors import InputError

from ..base.numbers import count


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What a ready stack delivered while a number of connections asked it all the time, for a moment."""

    connections: int
    per_s: float
    """Right answers per second, above 0."""
    promised: int = 1
    """Processes times threads of the server that hosts the app there."""

    @property
    def response_s(self) -> float:
        """How long an answer takes then, by Little's law."""
        return self.connections / self.per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTime:
    """What one answer, or loading the app, takes without any server; zeros where nobody knows."""

    wall_s: float = 0.0
    """Seconds that pass."""
    cpu_s: float = 0.0
    """CPU seconds among them; the rest is waiting, for a database or for another site."""
    bursts: tuple[Burst, ...] = ()
    """What ready stacks deliver, the slowest of those that were asked, by connections; empty where nobody asked."""


def mean_time(times: Iterable[PageTime]) -> PageTime:
    """Return the mean of ``times``: what a request takes where each of them is asked for as often."""
    known = list(times)
    if not known:
        return PageTime()
    return PageTime(wall_s=fmean(time.wall_s for time in known), cpu_s=fmean(time.cpu_s for time in known))


MOST_BODY_BYTES = 32 << 20
"""The longest body that is raced. It is compared byte by byte, so it is held: by us, by the engine, and several
times by the app's interpreter, where the app is asked more than once."""

MOST_FIELDS, MOST_HEAD_BYTES = 1000, 1 << 20
"""The largest head that the engine takes."""

LARGE_HEAD = f"has a head larger than we take ({count(MOST_FIELDS)} fields, {MOST_HEAD_BYTES >> 20} MiB)"
"""Said after "an answer that": readers of ours, the engine's included, take no larger one."""


class FillPart(StrEnum):
    """A part of a request."""

    PATH = "path"
    """Query included."""
    HEADER = "header"
    BODY = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handout:
    """A field of a page, ``<input name=…>`` or ``<meta name=…>``, that later requests of the visit send back."""

    name: str
    nth: int
    """Its number, from 0, among those of that name."""
    slot: int
    """Where its value is kept for the visit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """A place in a request for what its visitor was given; as recorded where nothing was."""

    part: FillPart
    start: int
    """The first byte, in that part, that is replaced."""
    end: int
    """The first byte after those."""
    source: int | str
    """The slot of a handout, or the name of a cookie."""
    header: str = ""
    """The header's name; the first of that name is meant."""
    form: bool = False
    """Whether the value is encoded as in forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request."""

    path: str
    """Starts with a slash, and holds the query."""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Added to what is always sent."""
    body: bytes = b""
    chunk_bytes: int | None = None
    """Sends the body in chunks of that size; None: whole."""
    expects_continue: bool = False
    """Whether the body waits until the server asks for it (Expect: 100-continue)."""
    think_s: float = 0.0
    """In a session the pause before the request, in seconds."""
    embedded: bool = False
    """Whether it belongs to the page before it in a session, as style sheets and images do."""
    handouts: tuple[Handout, ...] = ()
    """What of its answer later requests of a session send back."""
    fills: tuple[Fill, ...] = ()
    """Where it sends back what earlier answers of a session gave."""

    def has(self, header: str) -> bool:
        """Tell whether a header of that name, in any case, is among its own."""
        return any(name.lower() == header.lower() for name, _ in self.headers)

    def without(self, names: Container[str]) -> Request:
        """Return it without the headers of ``names``, in lower case."""
        return self.with_headers(tuple(pair for pair in self.headers if pair[0].lower() not in names))

    def replacing(self, headers: tuple[tuple[str, str], ...]) -> Request:
        """Return it with ``headers`` in place of its own of these names."""
        kept = self.without({name.lower() for name, _ in headers})
        return kept.with_headers((*kept.headers, *headers)) if headers else self

    def with_headers(self, headers: tuple[tuple[str, str], ...]) -> Request:
        """Return it with other headers; nothing is filled into one that is not what it was."""
        if headers == self.headers:
            return self
        old, new = _firsts(self.headers), _firsts(headers)
        fills = tuple(
            fill
            for fill in self.fills
            if fill.part is not FillPart.HEADER or old.get(fill.header.lower()) == new.get(fill.header.lower())
        )
        return replace(self, headers=headers, fills=fills)


def _firsts(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name.lower(): value for name, value in reversed(headers)}


def excess(
    fields: Sequence[tuple[str, str]], body_bytes: int, endless: bool, most_bytes: int = MOST_BODY_BYTES
) -> str:
    """Say after "an answer that" why it cannot be raced; empty for one that can.

    ``endless`` tells whether the body was still being sent after ``body_bytes``.
    """
    announced = next((text for name, text in fields if name.lower() == "content-length" and text.isdecimal()), "0")
    if endless and int(announced[:20]) > most_bytes:
        body_bytes, endless = int(announced[:20]), False
    size = f"{count(body_bytes >> 20)} MiB" if body_bytes >= 1 << 20 else f"{count(body_bytes)} bytes"
    if len(fields) > MOST_FIELDS or sum(len(name) + len(value) + 4 for name, value in fields) > MOST_HEAD_BYTES:
        return LARGE_HEAD
    if endless:
        return f"does not end: it was still being sent after {size}"
    return f"is larger than {most_bytes >> 20} MiB: it has {size}" if body_bytes > most_bytes else ""


class Order(StrEnum):
    """How the requests of a workload are spread over the connections."""

    TURN = "turn"
    """Whichever connection is free sends the next one."""
    SESSION = "session"
    """Each connection plays all of them in order, as one visitor, and begins again as the next visitor."""


class NoncePlace(StrEnum):
    """Where a request carries its nonce."""

    HEADER = "header"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonce:
    """A number that no other request has.

    The answer must repeat it, in a header of that name or in its body: an answer out of a cache cannot.
    """

    place: NoncePlace
    name: str
    """Of the header or query parameter."""


class Sameness(StrEnum):
    """How much of an answer must repeat, learnt from asking the application twice."""

    BODY = "body"
    """Two answers were identical: every byte must be."""
    PARTS = "parts"
    """Only the fixed parts, in their order, repeat: what is between them may be anything."""
    LENGTH = "length"
    """They differed but were equally long: the length must repeat."""
    STATUS = "status"
    """They differed in length too: only the status can be held against an answer."""


class AnswerOrigin(StrEnum):
    """Who says that an answer is right."""

    APP = "app"
    """The application itself, asked without any server."""
    FILE = "file"
    """A static file that the application itself does not have: a front end sends it."""
    RECORDING = "recording"
    USER = "user"
    """A rule of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The golden answer to a request: as a rule what the application itself says, asked without any server."""

    status: int | None
    """None where nothing certain is known of it, as in recordings: any 2xx is right then."""
    body: bytes
    content_type: str
    sameness: Sameness
    parts: tuple[bytes, ...] = ()
    """The fixed parts of a body whose sameness is PARTS: it starts with the first, ends with the last, and has the
    others between them in their order."""
    origin: AnswerOrigin = AnswerOrigin.APP


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The requests of a race."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]
    """The golden answer to each request."""
    host: str = "127.0.0.1"
    """For the Host header."""
    order: Order = Order.TURN
    cookies: bool = False
    """Whether each session sends back the cookies it was given."""
    nonce: Nonce | None = None
    name: str = ""
    """Tells it from the others where a race has several; empty where it is the only one."""
    page: PageTime = field(default_factory=PageTime)
    """What the app takes for one of the requests, on average."""


EVERY_PATH = "*"
"""Stands in place of a path for all that have no rule of their own."""


class Likeness(StrEnum):
    """What of the app's own answer must come again; the status always must."""

    STATUS = "status"
    LENGTH = "length"
    EXACT = "exact"
    """Every byte of the body."""
    CONTAINS = "contains"
    """A text, wherever it stands in the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """One rule."""

    likeness: Likeness
    """How alike an answer must be."""
    text: str = ""
    """What a body must contain."""


RightAnswers = Mapping[str, RightAnswer]
"""Rules by path; ``EVERY_PATH`` for all other paths. Without any rule the app's own answers decide."""


def fixed_parts(body: bytes, masks: Sequence[str]) -> tuple[bytes, ...]:
    """Return the parts of ``body`` between the matches of ``masks``, in order, as ``Answer.parts`` has them.

    The first part is empty when a match stands at the start, the last when one stands at the end; matches that
    touch or overlap count as one. Matches of nothing are no matches.

    InputError: a mask is no regular expression, or matches nothing in ``body``.
    """
    parts, after = [], 0
    for start, end in _joined(_matches(body, masks)):
        parts.append(body[after:start])
        after = end
    return (*parts, body[after:])


def _matches(body: bytes, masks: Sequence[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for mask in masks:
        try:
            matches = [match.span() for match in re.finditer(mask.encode(), body) if match.end() > match.start()]
        except re.error as error:
            raise InputError(f"--mask {mask!r} is no regular expression: {error}") from error
        if not matches:
            raise InputError(f"--mask {mask!r} matches nothing in the body of --expect-body; leave it out")
        spans += matches
    return sorted(spans)


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
