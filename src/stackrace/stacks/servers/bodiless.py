"""Drop the body of answers to HEAD, for servers that would send it and so break a kept connection.

This file is copied into the site's directory and run there by the app's Python. Most apps leave dropping the
body to the server, as they may: RFC 9110, 9.3.2, forbids the server to send it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any


def wsgi_without_body(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Return ``application`` without a body in answers to HEAD; it still runs to its end."""

    def bodiless(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "HEAD":
            return application(environ, start_response)
        environ.pop("wsgi.file_wrapper", None)  # what some servers give there cannot be iterated over
        started: list[Any] = []
        lengths: list[int] = []

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
            started[:] = [status, list(headers)]
            return lambda data: lengths.append(len(data))

        body = application(environ, start)
        try:
            lengths.extend(map(len, body))
        finally:
            close = getattr(body, "close", None)
            if close:
                close()
        status, headers = started
        if not (_has_length(headers) or status.startswith(("1", "204", "304"))):
            # Without a length, servers would announce chunks and end them, which is a body too.
            headers.append(("Content-Length", str(sum(lengths))))
        start_response(status, headers)
        return ()

    return bodiless


def _has_length(headers: list[tuple[str, str]]) -> bool:
    return any(name.lower() in ("content-length", "transfer-encoding") for name, _ in headers)


def asgi_without_body(application: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Return ``application`` without a body in answers to HEAD; the answer starts once its length is known."""

    async def bodiless(scope: dict[str, Any], receive: Any, send: Callable[..., Awaitable[None]]) -> None:
        started: list[dict[str, Any]] = []
        lengths: list[int] = []

        async def send_bodiless(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.append(message)
                return
            if message["type"] != "http.response.body":
                await send(message)
                return
            lengths.append(len(message.get("body", b"")))
            if not message.get("more_body"):
                await send(_with_length(started.pop(), sum(lengths)))
                await send({"type": "http.response.body", "body": b""})

        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await application(scope, receive, send_bodiless if is_head else send)

    return bodiless


def _with_length(start: dict[str, Any], length: int) -> dict[str, Any]:
    """Add the Content-Length to the start of an answer, unless the app gives it or the status allows no body."""
    headers = list(start.get("headers", ()))
    names = [(bytes(name).decode("latin-1"), "") for name, _ in headers]
    if _has_length(names) or start["status"] < 200 or start["status"] in (204, 304):
        return start
    return {**start, "headers": [*headers, (b"content-length", str(length).encode())]}
