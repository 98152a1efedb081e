"""Call a WSGI application in process, as a server would. Source: PEP 3333."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from .messages import Body, Reply, WireRequest
from .tracebacks import Tracebacks


class WsgiCaller:
    """One application and the place where its tracebacks are collected."""

    def __init__(self, application: Any, tracebacks: Tracebacks, most_body_bytes: int) -> None:
        self._application = application
        self._tracebacks = tracebacks
        self._most_body_bytes = most_body_bytes

    def call(self, asked: WireRequest) -> Reply:
        """Return the application's answer; an exception out of it counts as a 500."""
        body = Body(self._most_body_bytes)
        response = _Response(body)
        try:
            response.collect(self._application(environ_of(asked), response.start))
        except Exception as error:
            if not body.endless:
                self._tracebacks.add(error)
                return Reply(500, traceback=self._tracebacks.take())
        traceback = self._tracebacks.take()
        return Reply(response.status, response.headers, body.whole(), traceback, body.bytes, body.endless)

    def pool(self) -> None:
        """Return none: servers choose the threads of WSGI."""

    def close(self) -> None:
        """Do nothing: WSGI knows no end."""


class _Response:
    """What an application gives through ``start_response``, ``write`` and its iterable."""

    def __init__(self, body: Body) -> None:
        self.status = 0
        self.headers: tuple[tuple[str, str], ...] = ()
        self._body = body

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        self.status = int(status.split(" ", 1)[0])
        self.headers = tuple(headers)
        return self._write

    def _write(self, piece: bytes) -> None:
        if not self._body.add(piece):
            raise BrokenPipeError  # as where a client has left

    def collect(self, result: Any) -> None:
        try:
            for piece in result:
                if not self._body.add(piece):
                    break
        finally:
            if hasattr(result, "close"):
                result.close()
        if not self.status:
            raise RuntimeError("the application answered without calling start_response()")


def environ_of(asked: WireRequest) -> dict[str, Any]:
    """Return the environ of a request; path bytes become latin-1 text, as the standard demands."""
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
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in asked.headers:
        key = name.upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = "HTTP_" + key
        value = value.encode().decode("latin-1")  # PEP 3333: the bytes of the wire
        environ[key] = environ[key] + "," + value if key in environ else value
    return environ
