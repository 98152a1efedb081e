"""What a server does that tells no lie; every lie overrides the one part it is about."""

import io
import os
import signal
import sys
from email.utils import formatdate

GRACE = 20
"""Requests that any lie but one about the start answers honestly, so that the launch is believed."""


class Honest:
    """Answers each request with what the app says."""

    backlog = 1024

    def __init__(self, application):
        self.application = application
        self.server = None

    def binding(self, listening):
        """The socket is about to be bound."""

    def starting(self):
        """The socket listens; the workers are not there yet."""

    def ready(self, loop, listening):
        """This worker is about to accept."""
        self.loop = loop

    def accepts(self, server):
        """Return whether another connection is to be accepted."""
        return True

    def connected(self, connection):
        """Somebody connected."""

    def told_to_stop(self):
        """TERM came: all workers go."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
        os._exit(0)

    def asked(self, connection, request):
        """A request is complete: answer it."""
        close = b"\r\nconnection: close" in request.lower()
        connection.send(self.answer(connection, request), close)

    def answer(self, connection, request):
        """Return the whole answer to a request."""
        status, headers, body = self.say(request)
        return self.written(status, [*headers, ("Date", self.date())], body)

    def say(self, request):
        """Return status, headers and body, from the app."""
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": "/",
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
        }
        for line in request.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"x-nonce":
                environ["HTTP_X_NONCE"] = value.strip().decode()
        said = []
        body = b"".join(self.application(environ, lambda *words: said.extend(words)))
        return said[0], said[1], body

    def date(self):
        """Return the moment as a header has it."""
        return formatdate(usegmt=True)

    def written(self, status, headers, body):
        """Return an answer as it goes over the wire."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body
