"""Which requests are sent, and what a right answer looks like."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .page_time import PageTime

__all__ = ["Answer", "Nonce", "NoncePlace", "Order", "Request", "Sameness", "Workload"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The golden answer to a request: what the application itself says, asked without any server."""

    status: int | None
    """None where nothing certain is known of it, as in recordings: any 2xx is right then."""
    body: bytes
    content_type: str
    sameness: Sameness
    parts: tuple[bytes, ...] = ()
    """The fixed parts of a body whose sameness is PARTS: it starts with the first, ends with the last, and has the
    others between them in their order."""


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
