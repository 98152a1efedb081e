"""What a stack answered to one question, and whether it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..measure.workload import Answer, AnswerOrigin, Sameness

__all__ = ["Reply", "difference"]

_WHO = {
    AnswerOrigin.APP: "the app itself answers",
    AnswerOrigin.USER: "the app itself answers",
    AnswerOrigin.FILE: "a static file is sent with",
    AnswerOrigin.RECORDING: "the recording has",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a stack said."""

    status: int
    body: bytes
    cookies: tuple[str, ...] = ()
    """The values of its Set-Cookie headers."""
    excess: str = ""
    """Why it is no answer that can be raced: it is too large, or does not end; ``body`` is not whole then."""
    server: str = ""
    """Its Server header."""


def difference(reply: Reply, golden: Answer) -> str:
    """Say how ``reply`` differs from the golden answer; empty when it does not."""
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
    if golden.sameness is Sameness.PARTS and not _has_parts(reply.body, golden.parts):
        return f"a body of {len(reply.body)} bytes {_lacking(reply.body, golden.parts)}"
    return ""


def _has_parts(body: bytes, parts: Sequence[bytes]) -> bool:
    """Tell whether ``body`` starts with the first part, ends with the last and has the others between them."""
    first, *others, last = parts
    at, end = len(first), len(body) - len(last)
    for part in others:
        # the earliest place leaves the others the most room, so no other needs to be tried
        found = body.find(part, at, max(end, 0))
        if found < 0:
            return False
        at = found + len(part)
    return at <= end and body.startswith(first) and body.endswith(last)


def _lacking(body: bytes, parts: Sequence[bytes]) -> str:
    """Name the first part that ``body`` has nowhere."""
    part = next((part for part in parts if part not in body), b"")
    if not part:
        return "that has the app's own parts in another order"
    return f"without {part[:80].decode('utf-8', 'replace')!r}"
