"""HTTP servers on loopback that tests ask, and an app for servers that tests start."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import TypeVar

Served = TypeVar("Served", bound=BaseServer)

APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


class Hello(BaseHTTPRequestHandler):
    """Answers everything alike, keeps the connection and logs nothing."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536

    def do_GET(self) -> None:
        self.respond()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 (the standard library's naming)

    def respond(self) -> None:
        """Answer a request of any method."""
        self.answer(b"hello")

    def answer(self, body: bytes, status: int = 200, *headers: tuple[str, str]) -> None:
        """Send an answer as a whole."""
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def address_string(self) -> str:
        """Return a name also for clients of a unix socket."""
        return "somebody"

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Takes very many connections at once; ends although some are open."""

    request_queue_size = 1024
    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler] = Hello) -> None:
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


@contextmanager
def serving(server: Served) -> Iterator[Served]:
    """Let ``server`` answer as long as the context lasts."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
