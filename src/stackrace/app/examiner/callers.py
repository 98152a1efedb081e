"""Call a WSGI or ASGI application in process, as a server would, and catch its own tracebacks.

Source: PEP 3333; https://asgi.readthedocs.io/en/latest/specs/www.html
"""

from __future__ import annotations

import asyncio
import io
import logging
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from threading import Thread
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from .messages import ANSWER_S, Reply, ThreadPool, WireRequest

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_ON_THE_WAY = (_HERE, os.path.dirname(os.path.abspath(os.__file__)) + "/importlib", "<frozen importlib")  # noqa: PTH100, PTH120
_ENTRY = "stackrace_entry.py"


def app_traceback(error: BaseException) -> str:
    """Return the traceback of ``error`` without the frames that led into the app."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def _is_ours(filename: str) -> bool:
    return filename == _ENTRY or filename.startswith(_ON_THE_WAY)


class _Tracebacks(logging.Handler):
    """Collects the exceptions of one request, from Django's signal and from any logger; each once."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self._errors: list[BaseException] = []
        logging.getLogger().addHandler(self)
        signals = sys.modules.get("django.core.signals")
        if signals is not None:
            signals.got_request_exception.connect(self._on_signal)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exception of a log record, if it carries one."""
        if record.exc_info and record.exc_info[1] is not None:
            self.add(record.exc_info[1])

    def _on_signal(self, **_: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            self.add(error)

    def add(self, error: BaseException) -> None:
        """Keep ``error`` unless it is already kept."""
        if not any(error is known for known in self._errors):
            self._errors.append(error)

    def take(self) -> str:
        """Return the tracebacks collected since the last call, as text; one shows those that led to it, too."""
        told = {id(each) for error in self._errors for each in _before(error)}
        texts = [app_traceback(error) for error in self._errors if id(error) not in told]
        self._errors = []
        return "\n".join(texts)


def _before(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions that were being handled when ``error`` was raised, the latest first."""
    seen = {id(error)}
    while (before := error.__cause__ or error.__context__) is not None and id(before) not in seen:
        yield before
        seen.add(id(before))
        error = before


class _Body:
    """A response body that is received: kept up to a limit, then read further for a while, as it may still end."""

    READ_ON = 16
    """Multiple of the limit up to which a body is read."""
    MOST_MORE = 1_000_000
    """Most pieces that are read beyond the limit."""
    DRIPS_S = 5.0
    """Most seconds from the first piece to the last for a body of fewer than ``STEADY_BYTES``."""
    STEADY_BYTES = 1 << 20

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept = bytearray()
        self._more = 0
        self._begun_s = 0.0
        self.bytes = 0
        self.endless = False

    def add(self, piece: bytes) -> bool:
        """Add the next piece; return False if no more is wanted."""
        now_s = time.monotonic()
        self._begun_s = self._begun_s or now_s
        room = self._most_bytes - self.bytes
        self.bytes += len(piece)
        if room > 0:
            self._kept += piece[:room]
        else:
            self._more += 1
        too_long = self.bytes > self.READ_ON * self._most_bytes or self._more > self.MOST_MORE
        # the parent process limits the time before the first piece: it can tell whether the app could run
        longest_s = self.DRIPS_S if self.bytes < self.STEADY_BYTES else ANSWER_S
        self.endless |= too_long or now_s - self._begun_s > longest_s
        return not self.endless

    def drips(self) -> bool:
        """Tell, ``DRIPS_S`` after the head, whether the body is too slow; if so, mark it as endless."""
        self.endless |= self.bytes < self.STEADY_BYTES
        return self.endless

    def whole(self) -> bytes:
        """Return the part of the body that was kept."""
        return bytes(self._kept)


class Caller:
    """Calls one application as a server would; subclasses know the interface."""

    has_lifespan = False
    """True if the application took part in the lifespan protocol."""

    def __init__(self, application: Any, most_body_bytes: int) -> None:
        self._application = application
        self._most_body_bytes = most_body_bytes
        self._tracebacks = _Tracebacks()

    def call(self, asked: WireRequest) -> Reply:
        """Return the application's answer; an exception that it raises before its end counts as status 500."""
        body, head = _Body(self._most_body_bytes), _Head()
        try:
            self._ask(asked, head, body)
        except (Exception, asyncio.CancelledError) as error:
            if not (body.endless and head.status):
                self._tracebacks.add(error)
                if not head.is_answered:
                    return Reply(500, traceback=self._tracebacks.take())
        traceback = self._tracebacks.take()
        return Reply(head.status, head.headers, body.whole(), traceback, body.bytes, body.endless)

    def _ask(self, asked: WireRequest, head: _Head, body: _Body) -> None:
        """Write the application's answer to ``head`` and ``body``; raise its exceptions, or one for no answer."""
        raise NotImplementedError

    def pool(self) -> ThreadPool | None:
        """Return the thread pool that pages ran in, or None; for WSGI, each server chooses its own threads."""
        return None

    def close(self) -> None:
        """Shut the application down; WSGI has no shutdown."""


class _Head:
    status = 0
    headers: tuple[tuple[str, str], ...] = ()
    is_answered = False
    """True if the whole answer has been sent: an exception afterwards no longer changes it."""


class WsgiCaller(Caller):
    """Calls a WSGI application."""

    def _ask(self, asked: WireRequest, head: _Head, body: _Body) -> None:
        def write(piece: bytes) -> None:
            if not body.add(piece):
                raise BrokenPipeError  # as if the client had left

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
            head.status, head.headers = int(status.split(" ", 1)[0]), tuple(headers)
            return write

        result = self._application(_environ_of(asked), start)
        try:
            for piece in result:
                if not body.add(piece):
                    break
            else:
                head.is_answered = bool(head.status)
        finally:
            if hasattr(result, "close"):
                result.close()
        if not head.status:
            raise RuntimeError("the application answered without calling start_response()")


def _environ_of(asked: WireRequest) -> dict[str, Any]:
    path, _, query = asked.path.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": asked.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "SERVER_NAME": asked.host,
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_URI": asked.path,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(asked.body),
        "wsgi.errors": sys.stderr,
        # as most servers say: a page may depend on it, such as one with Django's debug toolbar
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in asked.headers:
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = "HTTP_" + key
        value = value.encode().decode("latin-1")  # PEP 3333: the bytes of the wire
        environ[key] = environ[key] + "," + value if key in environ else value
    return environ


_LIFESPAN_VERSION = {"version": "3.0", "spec_version": "2.0"}


class _Lifespan:
    """ASGI lifespan of one application; an application that ends or raises before it answers has no lifespan."""

    def __init__(self, application: Any) -> None:
        self.state: dict[str, Any] = {}
        self._application = application
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.answered = False
        """True if the application answered a lifespan event."""

    async def startup(self) -> None:
        """Send the startup event and wait until the application has handled it.

        Raises RuntimeError if the application itself reports that it cannot start.
        """
        self._task = asyncio.ensure_future(self._live())
        await self._announce(self._task, "lifespan.startup")

    async def shutdown(self) -> None:
        """Send the shutdown event, if the application is still listening."""
        if self._task is not None and not self._task.done():
            await self._announce(self._task, "lifespan.shutdown")
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _live(self) -> None:
        scope = {"type": "lifespan", "asgi": _LIFESPAN_VERSION, "state": self.state}
        try:
            await self._application(scope, self._inbox.get, self._outbox.put)
        except Exception:  # applications without a lifespan raise here
            return

    async def _announce(self, task: asyncio.Task[None], event: str) -> None:
        await self._inbox.put({"type": event})
        answer = asyncio.ensure_future(self._outbox.get())
        await asyncio.wait([answer, task], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            return
        self.answered = True
        if answer.result()["type"] == event + ".failed":
            raise RuntimeError(f"the application reports {event}.failed: {answer.result().get('message', '')}")


_VERSION = {"version": "3.0", "spec_version": "2.3"}


class AsgiCaller(Caller):
    """Calls a started ASGI application in its own event loop."""

    def __init__(self, application: Any, most_body_bytes: int, lifespan: bool = True) -> None:
        super().__init__(application, most_body_bytes)
        self._threads = _started_threads()
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._lifespan = _Lifespan(application)
        if not lifespan:
            return
        try:
            self._loop.run_until_complete(self._lifespan.startup())
        except BaseException:
            self._loop.close()
            raise
        self.has_lifespan = self._lifespan.answered

    def _ask(self, asked: WireRequest, head: _Head, body: _Body) -> None:
        exchange = _Exchange(asked, head, body)
        scope = _scope_of(asked, self._lifespan.state)
        answering = self._application(scope, exchange.receive, exchange.send)
        exchange.answering = asyncio.ensure_future(answering, loop=self._loop)
        self._loop.run_until_complete(exchange.answering)
        if not head.status:
            raise RuntimeError("the application ended without sending http.response.start")

    def pool(self) -> ThreadPool | None:
        """Return AnyIO's thread pool that pages ran in; None if no page needed it."""
        if "anyio" not in self._threads:
            return None
        try:
            threads = self._loop.run_until_complete(_anyio_threads())
        except Exception:
            # a later AnyIO may keep its limit elsewhere
            return None
        if not math.isfinite(threads):
            return None
        framework = next((title for module, title in _POOLED.items() if module in sys.modules), "the framework")
        return ThreadPool(framework, int(threads))

    def close(self) -> None:
        """Shut the application down."""
        self._loop.run_until_complete(self._lifespan.shutdown())
        self._loop.close()


_POOLED = {"fastapi": "FastAPI", "litestar": "Litestar", "starlette": "Starlette"}
"""Frameworks that run synchronous code in AnyIO's thread pool; a framework built on another one comes first."""


def _started_threads() -> set[str]:
    packages: set[str] = set()
    start = Thread.start

    def heard(thread: Thread) -> None:
        packages.add(type(thread).__module__.partition(".")[0])
        start(thread)

    Thread.start = heard  # type: ignore[method-assign, assignment]
    return packages


async def _anyio_threads() -> float:
    anyio: Any = import_module("anyio.to_thread")  # the app's own
    return float(anyio.current_default_thread_limiter().total_tokens)


class _Exchange:
    def __init__(self, asked: WireRequest, head: _Head, body: _Body) -> None:
        self._inbox = [{"type": "http.request", "body": asked.body, "more_body": False}]
        self._head, self._body = head, body
        self._complete = asyncio.Event()
        self.answering: asyncio.Future[Any] | None = None

    async def receive(self) -> dict[str, Any]:
        if self._inbox:
            return self._inbox.pop()
        await self._complete.wait()  # a client leaves when it has its answer, not before
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            if not self._head.status:
                pairs = message.get("headers", [])
                self._head.headers = tuple((name.decode("latin-1"), text.decode("latin-1")) for name, text in pairs)
                self._head.status = message["status"]
            self._look_later()
        elif message["type"] == "http.response.body":
            wanted = self._body.add(message.get("body", b""))
            self._head.is_answered = not message.get("more_body")
            if not wanted or self._head.is_answered:
                self._complete.set()
            if not wanted:
                await asyncio.sleep(0)  # other tasks see first that the client has left
                raise BrokenPipeError

    def _look_later(self) -> None:
        """Cancel an answer that has begun and hardly continues, such as a stream of rare events."""
        answering = self.answering
        assert answering is not None

        def look() -> None:
            if self._body.drips():
                answering.cancel()

        looking = asyncio.get_running_loop().call_later(self._body.DRIPS_S, look)
        answering.add_done_callback(lambda _: looking.cancel())


def _scope_of(asked: WireRequest, state: dict[str, Any]) -> dict[str, Any]:
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
