"""Call an ASGI application in process, as a server would.

Source: https://asgi.readthedocs.io/en/latest/specs/www.html
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from .lifespan import Lifespan
from .messages import Reply, WireRequest
from .tracebacks import Tracebacks

_VERSION = {"version": "3.0", "spec_version": "2.3"}


class AsgiCaller:
    """One started application with an event loop of its own."""

    def __init__(self, application: Any, tracebacks: Tracebacks) -> None:
        self._application = application
        self._tracebacks = tracebacks
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._lifespan = Lifespan(application)
        try:
            self._loop.run_until_complete(self._lifespan.startup())
        except BaseException:
            self._loop.close()
            raise

    def call(self, asked: WireRequest) -> Reply:
        """Return the application's answer; an exception out of it counts as a 500."""
        exchange = _Exchange(asked)
        scope = scope_of(asked, self._lifespan.state)
        try:
            self._loop.run_until_complete(self._application(scope, exchange.receive, exchange.send))
            status, headers, body = exchange.response()
        except Exception as error:
            self._tracebacks.add(error)
            return Reply(500, traceback=self._tracebacks.take())
        return Reply(status, headers, body, self._tracebacks.take())

    def close(self) -> None:
        """Shut the application down."""
        self._loop.run_until_complete(self._lifespan.shutdown())
        self._loop.close()


class _Exchange:
    """The two channels of one request."""

    def __init__(self, asked: WireRequest) -> None:
        self._inbox = [{"type": "http.request", "body": asked.body, "more_body": False}]
        self._sent: list[dict[str, Any]] = []
        self._complete = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._inbox:
            return self._inbox.pop()
        await self._complete.wait()  # a client leaves when it has its answer, not before
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self._sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._complete.set()

    def response(self) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        starts = [message for message in self._sent if message["type"] == "http.response.start"]
        if not starts:
            raise RuntimeError("the application ended without sending http.response.start")
        pairs = starts[0].get("headers", [])
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)
        bodies = (message for message in self._sent if message["type"] == "http.response.body")
        return starts[0]["status"], headers, b"".join(message.get("body", b"") for message in bodies)


def scope_of(asked: WireRequest, state: dict[str, Any]) -> dict[str, Any]:
    """Return the http scope of a request."""
    path, _, query = asked.path.partition("?")
    return {
        "type": "http",
        "asgi": _VERSION,
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in asked.headers],
        "client": ("127.0.0.1", 49152),
        "server": (asked.host, 80),
        "state": dict(state),
    }
