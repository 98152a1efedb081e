"""Start flup 1.0.3; copied into the site's directory and run by the app's Python.

flup is a library without a program of its own; Django's ``runfcgi``, which drove it, is gone since 1.9.
Usage: launcher.py PROTOCOL MODE ADDRESS MODULE PROCESSES THREADS MIN_SPARE MAX_SPARE BACKLOG, where ADDRESS is
host:port or a path.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any
from urllib.parse import unquote_to_bytes

# flup calls threading functions by names that were deprecated after its last release.
warnings.simplefilter("ignore", DeprecationWarning)

_DECODING = ("Cherokee",)
"""Web servers that send the path decoded, in PATH_INFO and in REQUEST_URI."""
_FAMILY = {"fastcgi": "fcgi", "scgi": "scgi", "ajp": "ajp"}


def main(protocol: str, mode: str, address: str, module: str, *numbers: str) -> None:
    """Serve until TERM."""
    processes, threads, min_spare, max_spare, backlog = map(int, numbers)
    setattr(socket, "SOMAXCONN", backlog)  # noqa: B010 (flup takes no other backlog than this one)
    application = import_module(module).application
    options: dict[str, Any] = {"bindAddress": _bind_address(address)}
    if protocol == "scgi":
        application = _read_to_the_end(application)
    if protocol != "fastcgi":
        application = _at_the_root(application)
        options["loggingLevel"] = logging.ERROR  # its own level writes a line per request to stderr
    if mode == "prefork":
        # flup compares the children's bytes with text and so never sees a busy one: the pool cannot grow.
        options.update(minSpare=processes, maxSpare=processes, maxChildren=processes)
    else:
        options.update(minSpare=min_spare, maxSpare=max_spare)
        if threads:
            options["maxThreads"] = threads
    _server_class(protocol, mode)(application, **options).run()


def _bind_address(address: str) -> str | tuple[str, int]:
    host, colon, port = address.rpartition(":")
    return (host, int(port)) if colon else address


def _server_class(protocol: str, mode: str) -> Callable[..., Any]:
    """Return flup's class with the fixes for today's Python."""
    suffix = "_fork" if mode == "prefork" else ""
    base = import_module(f"flup.server.{_FAMILY[protocol]}{suffix}").WSGIServer
    layers: list[type] = [_Prefork if mode == "prefork" else _Threaded]
    if protocol == "ajp":
        layers.append(_HonestStatus)
    return type("WSGIServer", (*layers, base), {})


def _at_the_root(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Use the path of the request line: flup's AJP leaves it encoded, Apache's SCGI splits it wrongly."""

    def mounted(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["REQUEST_URI"].partition("?")[0]
        environ["SCRIPT_NAME"] = ""
        if not environ.get("SERVER_SOFTWARE", "").startswith(_DECODING):
            environ["PATH_INFO"] = unquote_to_bytes(path).decode("latin-1")
        return application(environ, start_response)

    return mounted


class _Body(io.RawIOBase):
    """Exactly the request's body: flup's SCGI passes the bare connection."""

    def __init__(self, connection: Any, length: int) -> None:
        self._connection = connection
        self._left = length

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at most the rest of the body."""
        chunk = self._connection.read(min(len(buffer), self._left)) if self._left else b""
        buffer[: len(chunk)] = chunk
        self._left -= len(chunk)
        return len(chunk)


def _read_to_the_end(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Read the rest of the body after the app: a socket closed with unread data is reset, and the answer lost."""

    def drained(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = io.BufferedReader(_Body(environ["wsgi.input"], int(environ.get("CONTENT_LENGTH") or 0)))
        environ["wsgi.input"] = body
        answer = application(environ, start_response)
        try:
            yield from answer
        finally:
            if hasattr(answer, "close"):
                answer.close()
            while body.read(65536):
                pass

    return drained


class _Prefork:
    _keepGoing: bool  # noqa: N815 (flup's name)
    _children: dict[int, Any]

    def _intHandler(self, signum: int, frame: object) -> None:  # noqa: N802 (flup's name)
        self._keepGoing = False
        # select() resumes after a signal unless the handler raises (PEP 475); flup expects to be woken.
        raise OSError(errno.EINTR, "stop")

    def _cleanupChildren(self) -> None:  # noqa: N802 (flup's name)
        # flup would wait for children that a kept AJP connection holds; no load is left when a stack is stopped.
        for pid in self._children:
            os.kill(pid, signal.SIGTERM)
        for pid in self._children:
            os.waitpid(pid, 0)


class _Threaded:
    """Server class that does not wait at a stop for threads that a kept AJP connection holds; they are daemons."""

    def shutdown(self) -> None:
        """Do nothing to the threads."""


class _HonestStatus:
    """Server class that answers 500 if the app raises; flup's AJP sends its error page as 200."""

    def error(self, request: Any) -> None:
        """Send a short body."""
        body = b"Internal Server Error\n"
        headers = [(b"Content-Type", b"text/plain"), (b"Content-Length", str(len(body)).encode())]
        request.startResponse(500, b"Internal Server Error", headers)
        request.write(body)


if __name__ == "__main__":
    main(*sys.argv[1:])
