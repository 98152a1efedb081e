"""The first visitor of a launched stack, who asks for everything once: is it ready, and are its answers right?"""

from __future__ import annotations

from dataclasses import replace

from ..measure.engine.carrying import filled, handed_out
from ..measure.engine.engine import ask
from ..measure.workload import MOST_BODY_BYTES, Answer, Request, Workload
from .wire import Reply

__all__ = ["MOST_QUESTIONS", "Visitor", "questions"]

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
