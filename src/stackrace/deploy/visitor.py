"""The first visitor of a launched stack, who asks for everything once: is it ready, and are its answers right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..measure.engine.visit import ask, filled, handed_out
from ..measure.workload import MOST_BODY_BYTES, Answer, AnswerOrigin, Request, Sameness, Workload

__all__ = ["MOST_QUESTIONS", "Reply", "Visitor", "difference", "questions"]

MOST_QUESTIONS = 50
"""Most requests of a workload that a start sends: a recorded session may have a million, and they go one by one."""


def questions(workload: Workload) -> list[tuple[Request, Answer]]:
    """Return the first ``MOST_QUESTIONS`` different requests with their golden answers, in order."""
    wanted: dict[tuple[str, str, bytes, int], tuple[Request, Answer]] = {}
    for number, (request, golden) in enumerate(zip(workload.requests, workload.answers, strict=True)):
        if len(wanted) == MOST_QUESTIONS:
            break
        # a page that gives tokens gives others each time, and those of before a login are no good after it
        turn = number if request.handouts or request.fills else -1
        wanted.setdefault((request.method, request.path, request.body, turn), (request, golden))
    return list(wanted.values())


class Visitor:
    """Asks the stack at ``host`` and ``port``, and returns what it gives as the workload's visitors do."""

    def __init__(self, host: str, port: int, workload: Workload, most_bytes: int = MOST_BODY_BYTES) -> None:
        self._host, self._port = host, port
        self._workload = workload
        self._most_bytes = most_bytes
        self._cookies: dict[str, str] = {}
        self._given: dict[int, bytes] = {}

    def ask(self, request: Request, timeout_s: float) -> Reply:
        """Send ``request`` and return the answer; raises OSError."""
        asked = request
        request = filled(request, self._given, self._cookies)
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
        self._given.update(handed_out(asked, reply.body))
        return reply

    def _keep(self, reply: Reply) -> None:
        """Keep what is set for the rest of the visit; one site is visited, so attributes do not matter."""
        for line in reply.cookies:
            pair, *attributes = line.split(";")
            name, equals, text = pair.partition("=")
            if not equals or not name.strip():
                continue
            self._cookies.pop(name.strip(), None)
            gone = any(attribute.replace(" ", "").lower() == "max-age=0" for attribute in attributes)
            if not gone and len(self._cookies) < MOST_QUESTIONS:
                self._cookies[name.strip()] = text.strip()


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
