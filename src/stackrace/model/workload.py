"""Which requests are sent, and what a right answer looks like."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Answer", "Request", "Sameness", "Workload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; ``path`` starts with a slash and holds the query, ``headers`` adds to what is always sent."""

    path: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Sameness(StrEnum):
    """How much of an answer must repeat, learnt from asking the application twice."""

    BODY = "body"
    """Two answers were identical: every byte must be."""
    LENGTH = "length"
    """They differed but were equally long: the length must repeat."""
    STATUS = "status"
    """They differed in length too: only the status can be held against an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The golden answer to a request: what the application itself says, asked without any server."""

    status: int
    body: bytes
    content_type: str
    sameness: Sameness


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The requests of a race, each with its golden answer, sent in turn; ``host`` goes into the Host header."""

    requests: tuple[Request, ...]
    answers: tuple[Answer, ...]
    host: str = "127.0.0.1"
