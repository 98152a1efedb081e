"""A WSGI handler for mod_python; runs inside Apache, copied into the site's directory.

The handler that mod_python brings loses the status of the response. Source: PEP 3333.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any
from urllib.parse import unquote_to_bytes

# not imported by a statement, because the module exists only inside Apache
apache: Any = import_module("mod_python.apache")
_THREADED = bool(apache.mpm_query(apache.AP_MPMQ_IS_THREADED))
_FORKED = bool(apache.mpm_query(apache.AP_MPMQ_IS_FORKED))


def handler(request: Any) -> int:
    """Answer one request; an exception of the app is logged and answered with 500."""
    application = import_module(request.get_options()["stackrace.module"]).application
    response = _Response(request)
    body: Iterable[bytes] = ()
    try:
        body = application(_environ_of(request), response.start)
        for chunk in body:
            if chunk:
                response.write(chunk)
        response.send_head()
    except Exception:
        return _failed(request, response)
    finally:
        close = getattr(body, "close", None)
        if close:
            close()
    return int(apache.OK)


def _failed(request: Any, response: _Response) -> int:
    for line in traceback.format_exc().splitlines():
        request.log_error(line, apache.APLOG_ERR)
    if response.head_sent:
        return int(apache.DONE)
    request.headers_out.clear()
    return int(apache.HTTP_INTERNAL_SERVER_ERROR)


def _environ_of(request: Any) -> dict[str, Any]:
    """Return the WSGI environment; the app is mounted at the root, so the whole path is PATH_INFO."""
    request.add_common_vars()
    environ: dict[str, Any] = dict(request.subprocess_env.items())
    environ.update(
        {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(_path_of(request.unparsed_uri)).decode("latin-1"),
            "QUERY_STRING": request.args or "",
            "REQUEST_URI": request.unparsed_uri,
            "SERVER_PROTOCOL": request.protocol,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "https" if environ.get("HTTPS") == "on" else "http",
            "wsgi.input": _Input(request),
            "wsgi.errors": _Errors(request),
            "wsgi.multithread": _THREADED,
            "wsgi.multiprocess": _FORKED,
            "wsgi.run_once": False,
        }
    )
    return environ


def _path_of(target: str) -> str:
    """Return the path of a request target as it was sent: Apache decodes every other copy of it in place."""
    path = target.partition("?")[0]
    if not path.startswith("/"):  # absolute-form, as proxies are asked: RFC 9112 section 3.2.2
        path = "/" + path.partition("://")[2].partition("/")[2]
    return path


class _Response:
    """Head of the response, sent with the first byte of the body."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.head: tuple[str, list[tuple[str, str]]] | None = None
        self.head_sent = False

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        """Store status and headers; this is the app's ``start_response``."""
        try:
            if exc_info and self.head_sent:
                raise exc_info[1].with_traceback(exc_info[2])
            if self.head and not exc_info:
                raise AssertionError("start_response was called twice")
        finally:
            exc_info = None
        self.head = (status, list(headers))
        return self.write

    def send_head(self) -> None:
        """Pass status and headers to Apache, once."""
        if self.head_sent:
            return
        if self.head is None:
            raise AssertionError("start_response was not called")
        self.head_sent = True
        status, headers = self.head
        self.request.status = int(status[:3])
        self.request.status_line = status
        for name, value in headers:
            if name.lower() == "content-type":
                self.request.content_type = value
            elif name.lower() == "content-length":
                self.request.set_content_length(int(value))
            else:
                self.request.headers_out.add(name, value)

    def write(self, chunk: bytes) -> None:
        """Send a part of the body; Apache itself drops it for HEAD."""
        self.send_head()
        self.request.write(chunk, 0)


class _Input:
    """Body of the request; mod_python's own object lacks iteration."""

    def __init__(self, request: Any) -> None:
        self.read = request.read
        self.readline = request.readline
        self.readlines = request.readlines

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")


class _Errors:
    def __init__(self, request: Any) -> None:
        self.request = request

    def write(self, text: str) -> None:
        """Log the lines of ``text``."""
        for line in text.splitlines():
            self.request.log_error(line, apache.APLOG_ERR)

    def writelines(self, lines: Iterable[str]) -> None:
        """Log all ``lines``."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: the log is not buffered."""
