import itertools
from wsgiref.validate import validator

import pytest

from stackrace.app.examiner import callers
from stackrace.app.examiner.callers import WsgiCaller, _Body, _environ_of
from stackrace.app.examiner.messages import WireRequest

HOST = (("Host", "shop.example.com"),)
MOST_BYTES = 1000


def ask(application, path="/", method="GET", headers=(), body=b""):
    return WsgiCaller(application, MOST_BYTES).call(WireRequest(method, path, HOST + headers, body))


def test_the_environ_is_as_the_standard_wants_it():
    @validator
    def application(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["HTTP_HOST"].encode()]

    reply = ask(application, "/a?b=c")
    assert (reply.status, reply.body) == (200, b"shop.example.com")


def test_paths_arrive_as_bytes_in_latin_1():
    environ = _environ_of(WireRequest("GET", "/caf%C3%A9/?q=%C3%A9", HOST, b""))
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/café/"
    assert environ["QUERY_STRING"] == "q=%C3%A9"


def test_headers_arrive_as_bytes_in_latin_1():
    environ = _environ_of(WireRequest("GET", "/", (("Host", "a"), ("X-City", "Łódź")), b""))
    assert environ["HTTP_X_CITY"].encode("latin-1").decode() == "Łódź"


def test_bodies_and_repeated_headers_arrive():
    headers = (("Content-Length", "2"), ("Content-Type", "text/x"), ("X-A", "1"), ("X-A", "2"))
    environ = _environ_of(WireRequest("POST", "/", HOST + headers, b"hi"))
    assert environ["wsgi.input"].read() == b"hi"
    assert (environ["CONTENT_LENGTH"], environ["CONTENT_TYPE"]) == ("2", "text/x")
    assert environ["HTTP_X_A"] == "1,2"


def test_write_generators_and_close_are_honoured():
    closed = []

    class Result(list):
        def close(self):
            closed.append(True)

    def application(environ, start_response):
        start_response("201 Created", [])(b"first ")
        return Result([b"second"])

    reply = ask(application)
    assert (reply.status, reply.body, closed) == (201, b"first second", [True])


def test_an_exception_is_a_500_with_its_traceback():
    def application(environ, start_response):
        raise LookupError("gone")

    reply = ask(application)
    assert reply.status == 500
    assert reply.traceback.rstrip().endswith("LookupError: gone")
    assert reply.traceback.count("  File ") == 1


@pytest.mark.parametrize("result", [[], [b"x"]])
def test_an_answer_without_start_response_is_an_error(result):
    assert "start_response" in ask(lambda environ, start_response: result).traceback


def test_of_a_page_without_end_no_more_than_the_bound_is_kept():
    closed = []

    class Endless:
        def __iter__(self):
            return itertools.repeat(b"x" * 600)

        def close(self):
            closed.append(self)

    def returning(environ, start_response):
        start_response("200 OK", [])
        return Endless()

    def writing(environ, start_response):
        write = start_response("200 OK", [])
        while True:
            write(b"x" * 600)

    for application in (returning, writing):
        reply = ask(application)
        assert (reply.status, len(reply.body), reply.endless, reply.traceback) == (200, MOST_BYTES, True, "")
        assert reply.body_bytes > 16 * MOST_BYTES
    assert len(closed) == 1


@pytest.mark.parametrize(
    ("thinking_s", "pause_s", "piece", "pieces", "endless"),
    [
        (1.0, 0.5, b"x", 100, True),
        (10.0, 0.5, b"x", 9, False),
        (0.0, 0.5, b"x" * (1 << 20), 30, False),
        (0.0, 0.5, b"x" * (1 << 20), 50, True),
    ],
    ids=["drips", "thinks, and ends soon", "is long", "is too long"],
)
def test_only_the_time_from_the_first_byte_on_counts(monkeypatch, thinking_s, pause_s, piece, pieces, endless):
    clock = itertools.accumulate(itertools.chain([thinking_s], itertools.repeat(pause_s)))
    monkeypatch.setattr(callers.time, "monotonic", lambda: now_s)
    monkeypatch.setattr(_Body, "READ_ON", 1 << 20)
    sent = 0

    def application(environ, start_response):
        nonlocal now_s, sent
        start_response("200 OK", [])
        for _ in range(pieces):
            now_s = next(clock)
            sent += 1
            yield piece

    now_s = 0.0
    assert ask(application).endless == endless
    assert (sent < pieces) == endless
    assert len(piece) > 1 or sent * pause_s < 7


def test_pieces_of_nothing_do_not_go_on_for_ever(monkeypatch):
    monkeypatch.setattr(_Body, "MOST_MORE", 1000)

    def application(environ, start_response):
        start_response("200 OK", [])
        return itertools.chain([b"x" * MOST_BYTES], itertools.repeat(b""))

    assert ask(application).endless


def test_a_page_beyond_the_bound_is_measured_to_its_end():
    def application(environ, start_response):
        start_response("200 OK", [])
        return [b"x" * 600] * 5

    reply = ask(application)
    assert (len(reply.body), reply.body_bytes, reply.endless) == (MOST_BYTES, 3000, False)
