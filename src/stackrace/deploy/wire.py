"""One plain HTTP question to a stack, to see whether it is ready and answers rightly. Not for load."""

from __future__ import annotations

import http.client
from dataclasses import dataclass

from ..model.workload import Answer, Request, Sameness

__all__ = ["Reply", "ask", "difference"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a stack said."""

    status: int
    body: bytes
    cookies: tuple[str, ...] = ()
    """The values of its Set-Cookie headers."""


def ask(host: str, port: int, request: Request, host_header: str, timeout_s: float) -> Reply:
    """Send ``request`` and return the answer; raises OSError or http.client.HTTPException."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        headers = {"Host": host_header, "Connection": "close", **dict(request.headers)}
        connection.request(request.method, request.path, body=request.body or None, headers=headers)
        answer = connection.getresponse()
        cookies = tuple(answer.headers.get_all("Set-Cookie", ()))
        return Reply(answer.status, answer.read(), cookies)
    finally:
        connection.close()


def difference(reply: Reply, golden: Answer) -> str:
    """Say how ``reply`` differs from the golden answer; empty when it does not."""
    if golden.status is None and not 200 <= reply.status < 300:
        return f"status {reply.status} where a success was expected"
    if golden.status is not None and reply.status != golden.status:
        return f"status {reply.status} where the app itself answers {golden.status}"
    if golden.sameness is Sameness.BODY and reply.body != golden.body:
        return f"a body of {len(reply.body)} bytes that differs from the app's own {len(golden.body)}"
    if golden.sameness is Sameness.LENGTH and len(reply.body) != len(golden.body):
        return f"{len(reply.body)} bytes where the app itself answers {len(golden.body)}"
    return ""
