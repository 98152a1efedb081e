"""Requests of a race, the right answers to them, and the time that the app takes for a request."""

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
    """Throughput of a ready stack while a number of connections kept it busy for a moment."""

    connections: int
    per_s: float
    """Right answers per second, above 0."""
    stack: str = ""
    """Path of that stack; empty for a stack's own warm-up."""
    promised: int = 1
    """Processes times threads of the server that hosts the app in that stack."""

    @property
    def response_s(self) -> float:
        """Mean response time in seconds, by Little's law."""
        return self.connections / self.per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTime:
    """Time that one answer, or loading the app, takes without any server; zeros if unknown."""

    wall_s: float = 0.0
    """Wall-clock time in seconds."""
    cpu_s: float = 0.0
    """CPU seconds within it; the rest is waiting, for a database or for another site."""
    bursts: tuple[Burst, ...] = ()
    """Throughput by connections of the slowest stack that was measured; empty if none was."""


def mean_time(times: Iterable[PageTime]) -> PageTime:
    """Return the mean of ``times``: the time of a request if each is requested equally often."""
    known = list(times)
    if not known:
        return PageTime()
    return PageTime(wall_s=fmean(time.wall_s for time in known), cpu_s=fmean(time.cpu_s for time in known))


MOST_BODY_BYTES = 32 << 20
"""Longest body that is raced. Bodies are compared byte by byte, so they are held in memory: by us, by the engine,
and several times by the app's interpreter if the app is asked more than once."""

MOST_FIELDS, MOST_HEAD_BYTES = 1000, 1 << 20
"""Most header fields, and most bytes of a head, that the engine accepts."""

LARGE_HEAD = f"has a head larger than we take ({count(MOST_FIELDS)} fields, {MOST_HEAD_BYTES >> 20} MiB)"
"""Text after "an answer that": our readers, including the engine's, accept no larger head."""


class FillPart(StrEnum):
    """Part of a request."""

    PATH = "path"
    """Path with the query."""
    HEADER = "header"
    BODY = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handout:
    """Field of a page, ``<input name=…>`` or ``<meta name=…>``, that later requests of the visit send back."""

    name: str
    nth: int
    """Position among the fields of that name, from 0."""
    slot: int
    """Slot that keeps the value during the visit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Place in a request for a value from an earlier answer; without such a value, the recorded text stays."""

    part: FillPart
    start: int
    """First byte in that part to replace."""
    end: int
    """First byte after the replaced bytes."""
    source: int | str
    """Slot of a handout, or name of a cookie."""
    header: str = ""
    """Name of the header; the first header with this name is filled."""
    form: bool = False
    """True if the value is encoded as in forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request."""

    path: str
    """Path with its query; starts with a slash."""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Headers added to those that are always sent."""
    body: bytes = b""
    chunk_bytes: int | None = None
    """Size of the chunks in which the body is sent; None sends it whole."""
    expects_continue: bool = False
    """True if the body waits until the server asks for it (Expect: 100-continue)."""
    think_s: float = 0.0
    """Pause before the request in a session, in seconds."""
    embedded: bool = False
    """True if the request belongs to the page before it in a session, as style sheets and images do."""
    handouts: tuple[Handout, ...] = ()
    """Fields of the answer that later requests of a session send back."""
    fills: tuple[Fill, ...] = ()
    """Places for values from earlier answers of a session."""

    def has(self, header: str) -> bool:
        """Return True if the request has a header of that name, in any case."""
        return any(name.lower() == header.lower() for name, _ in self.headers)

    def without(self, names: Container[str]) -> Request:
        """Return the request without the headers in ``names``, which are in lower case."""
        return self.with_headers(tuple(pair for pair in self.headers if pair[0].lower() not in names))

    def replacing(self, headers: tuple[tuple[str, str], ...]) -> Request:
        """Return the request with ``headers`` in place of its own headers of these names."""
        kept = self.without({name.lower() for name, _ in headers})
        return kept.with_headers((*kept.headers, *headers)) if headers else self

    def with_headers(self, headers: tuple[tuple[str, str], ...]) -> Request:
        """Return the request with other headers, without the fills into headers that have changed."""
        if headers == self.headers:
            return self
        old, new = _first_values(self.headers), _first_values(headers)
        fills = tuple(
            fill
            for fill in self.fills
            if fill.part is not FillPart.HEADER or old.get(fill.header.lower()) == new.get(fill.header.lower())
        )
        return replace(self, headers=headers, fills=fills)


def _first_values(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name.lower(): value for name, value in reversed(headers)}


def excess(
    fields: Sequence[tuple[str, str]], body_bytes: int, endless: bool, most_bytes: int = MOST_BODY_BYTES
) -> str:
    """Return the reason why an answer cannot be raced, to follow "an answer that"; empty if it can.

    ``endless`` is True if the body was still being sent after ``body_bytes``.
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
    """Distribution of a workload's requests over the connections."""

    TURN = "turn"
    """The next connection that is free sends the next request."""
    SESSION = "session"
    """Each connection sends all requests in order, as one visitor, and begins again as the next visitor."""


class NoncePlace(StrEnum):
    """Place of the nonce in a request."""

    HEADER = "header"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nonce:
    """Number that no other request has.

    The answer must repeat it, in a header of that name or in its body. An answer from a cache cannot.
    """

    place: NoncePlace
    name: str
    """Name of the header or query parameter."""


class Sameness(StrEnum):
    """Part of an answer that must repeat, learnt by asking the application twice."""

    BODY = "body"
    """Two answers were identical: every byte must repeat."""
    PARTS = "parts"
    """The fixed parts must repeat, in their order; anything may stand between them."""
    LENGTH = "length"
    """Two answers differed but were equally long: the length must repeat."""
    SIZE = "size"
    """Two answers differed in length, too: the status is checked, and before the load that a body is no other page,
    less than half or more than twice as long."""
    STATUS = "status"
    """Only the status is checked: lengths differ by more than that, or the user wants it so."""


_SLACK_BYTES = 512
"""Difference of two short bodies that says nothing: a list with two entries more."""


def alike_in_size(*bodies: bytes) -> bool:
    """Return True if the longest of ``bodies`` has at most twice the length of the shortest, or little more."""
    lengths = [len(body) for body in bodies]
    return max(lengths) <= 2 * min(lengths) + _SLACK_BYTES


class AnswerOrigin(StrEnum):
    """Source of the right answer."""

    APP = "app"
    """The application itself, asked without any server."""
    FILE = "file"
    """A static file that a front end sends; the application itself does not have it."""
    RECORDING = "recording"
    USER = "user"
    """A rule given by the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Golden answer to a request, usually the application's own, given without any server."""

    status: int | None
    """Expected status; None if it is unknown, as in recordings: then any 2xx is right."""
    body: bytes
    content_type: str
    sameness: Sameness
    parts: tuple[bytes, ...] = ()
    """Fixed parts of a body whose sameness is PARTS: it starts with the first, ends with the last, and has the
    others between them in their order."""
    origin: AnswerOrigin = AnswerOrigin.APP


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Requests of a race with their golden answers."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]
    """Golden answer to each request."""
    host: str = "127.0.0.1"
    """Value of the Host header."""
    order: Order = Order.TURN
    cookies: bool = False
    """True if each session sends back the cookies that it received."""
    nonce: Nonce | None = None
    name: str = ""
    """Name of the workload among several of a race; empty for the only one."""
    page: PageTime = field(default_factory=PageTime)
    """Mean time that the app takes for one of the requests."""


EVERY_PATH = "*"
"""Key of the rule for all paths that have no rule of their own."""


class Likeness(StrEnum):
    """Part of the app's own answer that must repeat; the status always must."""

    STATUS = "status"
    LENGTH = "length"
    EXACT = "exact"
    """Every byte of the body."""
    CONTAINS = "contains"
    """A given text, anywhere in the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """Rule that a right answer meets."""

    likeness: Likeness
    """Required likeness to the app's own answer."""
    text: str = ""
    """Text that the body must contain."""


RightAnswers = Mapping[str, RightAnswer]
"""Rules by path, ``EVERY_PATH`` for all other paths. Without any rule the app's own answers decide."""


def fixed_parts(body: bytes, masks: Sequence[str]) -> tuple[bytes, ...]:
    """Return the parts of ``body`` between the matches of ``masks``, in order, as in ``Answer.parts``.

    The first part is empty if the body starts with a match, the last if it ends with one. Matches that touch or
    overlap count as one. Empty matches are ignored.

    InputError: a mask is no regular expression, or matches nothing in ``body``.
    """
    parts, after = [], 0
    for start, end in _merged_spans(_matches(body, masks)):
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


def _merged_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
