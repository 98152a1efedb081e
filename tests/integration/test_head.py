"""No server sends a body in answer to HEAD, whatever the app does. Source: RFC 9110, 9.3.2.

Read from the bare socket: HTTP clients look for no body there, and so find none.
"""

import socket
from contextlib import ExitStack
from functools import cache

import pytest
from tests.integration.farm import launchable
from tests.ordinary import ordinarily

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.shutdown import stop
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Protocol

APP = """
BODY = [b"a body that HEAD ", b"must not get"]
LENGTH = str(sum(map(len, BODY)))


def wsgi(environ, start_response):
    length = [("Content-Length", LENGTH)] if environ["PATH_INFO"] == "/length" else []
    start_response("200 OK", [("Content-Type", "text/plain"), *length])
    return BODY


async def asgi(scope, receive, send):
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
    length = [(b"content-length", LENGTH.encode())] if scope["path"] == "/length" else []
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": BODY[0], "more_body": True})
    await send({"type": "http.response.body", "body": BODY[1]})
"""
"""Answers HEAD and GET alike, as most frameworks do."""


def paths(interface):
    """Yield the servers that speak http to clients and host ``interface``, by default or by a setting."""
    for name, spec in catalogue().specs.items():
        if Protocol.HTTP not in spec.listens or interface not in spec.hosts:
            continue
        implying = [
            f"{name}:{setting.name}={value}"
            for setting in spec.settings
            for value, implied in setting.implies.items()
            if implied is interface
        ]
        yield from implying or [name]
    if interface is Interface.WSGI:
        yield from ["uwsgi:http=socket", "apache+mod_wsgi", "apache+mod_python", "apache+passenger"]


CASES = [(kind, path) for kind in (Interface.WSGI, Interface.ASGI) for path in launchable(paths(kind))]


@pytest.fixture(scope="module")
def launched(tmp_path_factory, django_python):
    """Return a function that launches a stack and gives what each path's HEAD, then GET were answered."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "pages.py").write_text(APP)

    def requested(interface):
        return RaceRequest(
            folder=folder,
            entry=entry_of(EntryKind(interface), f"pages:{interface}"),
            python=django_python,
            urls=("/length", "/none"),
            stacks=tuple(path for kind, path in CASES if kind is interface),
        )

    with ExitStack() as held:

        @cache
        def stage_of(interface):
            request = requested(interface)
            stage = held.enter_context(set_up(request))
            return stage, dict(zip(request.stacks, stage.stacks, strict=True))

        def launch(interface, path):
            stage, stacks = stage_of(interface)
            running = stage.launcher.launch(stacks[path], timeout_s=60)
            try:
                return [conversation(running.host, running.port, page) for page in ("/length", "/none")]
            finally:
                assert stop(stage.guard, [running]) == {}

        yield launch


def conversation(host, port, page):
    """Send HEAD and GET in one go; return all that comes until the server closes."""
    head = f"HEAD {page} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    get = f"GET {page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection((host, port), timeout=1800) as connection:
        connection.sendall(head.encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        try:
            connection.sendall(get.encode())
            while chunk := connection.recv(65536):
                received += chunk
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server may close after HEAD
    return received


@pytest.mark.parametrize(
    ("interface", "path"),
    ordinarily(CASES, [case for case in CASES if "/" not in case[1]][::3]),
    ids=[path for _, path in CASES],
)
def test_what_follows_the_headers_is_the_next_answer_or_nothing(interface, path, launched):
    for answer in launched(interface, path):
        _, _, rest = answer.partition(b"\r\n\r\n")
        assert rest == b"" or rest.startswith(b"HTTP/1.1 200")
