"""What is laid over the app where the server would send a body in answer to HEAD."""

from __future__ import annotations

import asyncio

import pytest
from tests.core.stacks.servers.conftest import hosted

from stackrace.stacks.servers.bodiless import asgi_without_body, wsgi_without_body
from stackrace.stacks.servers.site import BODILESS, bodiless_files
from stackrace.stacks.setting import Interface


class Body:
    """Starts the response late, as a generator does, and remembers being closed."""

    def __init__(self, start_response, headers):
        self.start_response = start_response
        self.headers = headers
        self.closed = False

    def __iter__(self):
        self.start_response("200 OK", self.headers)
        yield b"bo"
        yield b"dy"

    def close(self):
        self.closed = True


def ask(method, headers=()):
    """Return what the server gets: the start of the response, its body, and whether the app's was closed."""
    bodies, started = [], []

    def application(environ, start_response):
        bodies.append(Body(start_response, list(headers)))
        return bodies[0]

    answer = wsgi_without_body(application)(
        {"REQUEST_METHOD": method, "wsgi.file_wrapper": None}, lambda *start: started.append(start)
    )
    return list(answer), started, bodies[0].closed


def test_only_an_answer_to_head_loses_its_body():
    assert ask("GET") == ([b"bo", b"dy"], [("200 OK", [])], False)
    body, started, closed = ask("HEAD")
    assert (body, closed) == ([], True)
    assert started == [("200 OK", [("Content-Length", "4")])]


def test_a_length_that_the_app_gives_is_left_alone():
    assert ask("HEAD", [("content-length", "9")])[1] == [("200 OK", [("content-length", "9")])]


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_that_has_no_body_gets_no_length(status):
    started = []

    def application(environ, start_response):
        start_response(status, [])
        return []

    wsgi_without_body(application)({"REQUEST_METHOD": "HEAD"}, lambda *start: started.append(start))
    assert started == [(status, [])]


def test_what_is_written_counts_as_body_too():
    started = []

    def application(environ, start_response):
        start_response("200 OK", [])(b"hello")
        return [b"!"]

    assert wsgi_without_body(application)({"REQUEST_METHOD": "HEAD"}, lambda *start: started.append(start)) == ()
    assert started[0][1] == [("Content-Length", "6")]


@pytest.mark.parametrize(
    ("scope", "bodies"),
    [
        ({"type": "http", "method": "GET"}, [b"bo", b"dy"]),
        ({"type": "http", "method": "HEAD"}, [b""]),
        ({"type": "lifespan"}, [b"bo", b"dy"]),
    ],
)
def test_an_asgi_answer_to_head_ends_with_one_empty_part(scope, bodies):
    sent = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"bo", "more_body": True})
        await send({"type": "http.response.body", "body": b"dy"})

    async def send(message):
        sent.append(message)

    asyncio.run(asgi_without_body(application)(scope, None, send))
    length = [(b"content-length", b"4")]
    assert sent[0].get("headers", []) == (length if scope.get("method") == "HEAD" else [])
    assert [message["body"] for message in sent[1:]] == bodies
    assert not sent[-1].get("more_body")


@pytest.mark.parametrize("interface", [Interface.WSGI, Interface.ASGI])
def test_the_module_binds_the_application_for_its_interface(interface):
    ((name, text),) = bodiless_files(hosted(interface)).items()
    compile(text, name, "exec")
    assert name == f"{BODILESS}.py"
    assert text.endswith(f"application = {interface}_without_body(hosted)\n")


@pytest.mark.parametrize(
    ("status", "headers"), [(200, [(b"Content-Length", b"9")]), (204, []), (200, [(b"transfer-encoding", b"x")])]
)
def test_an_asgi_answer_whose_end_is_known_keeps_its_headers(status, headers):
    sent = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"body"})

    async def send(message):
        sent.append(message)

    asyncio.run(asgi_without_body(application)({"type": "http", "method": "HEAD"}, None, send))
    assert sent[0]["headers"] == headers
