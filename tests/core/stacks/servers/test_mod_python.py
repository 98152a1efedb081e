"""mod_python within Apache's configuration, and our handler against a stand-in for Apache."""

from __future__ import annotations

import importlib
import io
import sys
from types import ModuleType, SimpleNamespace

import pytest

from stackrace.stacks.servers.apache.server import SERVER as APACHE
from stackrace.stacks.servers.mod_python.server import SERVER


def test_it_renders_as_in_the_golden_file(make_site, assert_golden):
    site = make_site("apache", guest="mod_python", mpm="prefork")
    assert_golden("mod_python.conf", APACHE.recipe(site).files["apache.conf"])


def test_the_handler_lies_beside_the_configuration(make_site):
    files = APACHE.recipe(make_site("apache", guest="mod_python")).files
    assert files["python/stackrace_mod_python.py"] == (SERVER.folders[0] / "handler.py").read_text(encoding="utf-8")


@pytest.mark.skipif(not SERVER.needs.files[0].exists(), reason="mod_python is not installed")
@pytest.mark.parametrize("mpm", APACHE.spec.setting("mpm").choices)
def test_apache_accepts_it(mpm, tmp_path, make_site, assert_checks):
    site = make_site("apache", directory=tmp_path / "folder", guest="mod_python", mpm=mpm)
    assert_checks(site, APACHE.recipe(site))


class Table:
    """As much of an Apache table as the handler uses."""

    def __init__(self, **pairs):
        self.pairs = list(pairs.items())

    def items(self):
        return self.pairs

    def add(self, name, value):
        self.pairs.append((name, value))

    def clear(self):
        self.pairs = []


class Request:
    """As much of mod_python's request as the handler uses."""

    method, protocol, args, status = "POST", "HTTP/1.1", "page=3", 200
    unparsed_uri = "/caf%C3%A9/?page=3"

    def __init__(self, body=b""):
        self.subprocess_env = Table(HTTP_HOST="example.org")
        self.headers_out = Table()
        self.sent = b""
        self.log = []
        stream = io.BytesIO(body)
        self.read, self.readline, self.readlines = stream.read, stream.readline, stream.readlines

    def get_options(self):
        return {"stackrace.module": "stackrace_entry"}

    def add_common_vars(self):
        self.subprocess_env.add("SERVER_NAME", "example.org")

    def set_content_length(self, length):
        self.content_length = length

    def write(self, chunk, flush=1):
        self.sent += chunk

    def log_error(self, line, level):
        self.log.append(line)


@pytest.fixture
def answer(monkeypatch):
    """Return a function that has the handler answer with an app: (what it returned, the request)."""
    apache = SimpleNamespace(
        AP_MPMQ_IS_THREADED=2,
        AP_MPMQ_IS_FORKED=3,
        mpm_query=lambda what: 1,
        OK=0,
        DONE=-2,
        HTTP_INTERNAL_SERVER_ERROR=500,
        APLOG_ERR=3,
    )
    monkeypatch.setitem(sys.modules, "mod_python", ModuleType("mod_python"))
    monkeypatch.setitem(sys.modules, "mod_python.apache", apache)
    monkeypatch.delitem(sys.modules, "stackrace.stacks.servers.mod_python.handler", raising=False)
    handler = importlib.import_module("stackrace.stacks.servers.mod_python.handler")

    def ask(application, body=b"", target=Request.unparsed_uri):
        monkeypatch.setitem(sys.modules, "stackrace_entry", SimpleNamespace(application=application))
        request = Request(body)
        request.unparsed_uri = target
        return handler.handler(request), request

    return ask


def test_status_and_repeated_headers_arrive(answer):
    def application(environ, start_response):
        headers = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Content-Type", "text/plain")]
        start_response("404 Not Found", [*headers, ("Content-Length", "4")])
        return [b"go", b"ne"]

    code, request = answer(application)
    assert (code, request.status, request.status_line) == (0, 404, "404 Not Found")
    assert request.headers_out.items() == [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    assert (request.content_type, request.content_length, request.sent) == ("text/plain", 4, b"gone")


def test_the_environment_holds_a_decoded_path_and_the_body(answer):
    seen = {}

    def application(environ, start_response):
        seen.update(environ, lines=list(environ["wsgi.input"]))
        start_response("200 OK", [])
        return []

    answer(application, b"one\ntwo")
    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"].encode("latin-1")) == ("", "/café/".encode())
    assert (seen["REQUEST_METHOD"], seen["QUERY_STRING"]) == ("POST", "page=3")
    assert (seen["HTTP_HOST"], seen["SERVER_NAME"]) == ("example.org", "example.org")
    assert seen["lines"] == [b"one\n", b"two"]


def test_an_empty_body_still_sends_the_head(answer):
    def application(environ, start_response):
        start_response("304 Not Modified", [("ETag", "x")])
        return []

    code, request = answer(application)
    assert (code, request.status, request.headers_out.items()) == (0, 304, [("ETag", "x")])


def test_an_exception_becomes_a_500_and_a_line_in_the_log(answer):
    def application(environ, start_response):
        raise ValueError("broken app")

    code, request = answer(application)
    assert code == 500
    assert "ValueError: broken app" in request.log


def test_an_exception_after_the_head_ends_the_response(answer):
    def application(environ, start_response):
        start_response("200 OK", [])
        yield b"part"
        raise ValueError("too late")

    code, request = answer(application)
    assert (code, request.sent) == (-2, b"part")


def test_close_is_called_even_when_the_body_breaks(answer):
    closed = []

    class Body:
        def __iter__(self):
            raise ValueError("broken body")

        def close(self):
            closed.append(True)

    def application(environ, start_response):
        start_response("200 OK", [])
        return Body()

    code, _ = answer(application)
    assert (code, closed) == (500, [True])


def test_a_second_start_response_needs_an_exception(answer):
    def application(environ, start_response):
        start_response("200 OK", [])
        try:
            raise ValueError("changed my mind")
        except ValueError:
            start_response("503 Service Unavailable", [], sys.exc_info())
        return [b""]

    def careless(environ, start_response):
        start_response("200 OK", [])
        start_response("200 OK", [])
        return []

    assert answer(application)[1].status == 503
    assert answer(careless)[0] == 500


def test_errors_of_the_app_go_to_apaches_log(answer):
    def application(environ, start_response):
        environ["wsgi.errors"].writelines(["first\n", "second\n"])
        environ["wsgi.errors"].flush()
        start_response("200 OK", [])(b"written")
        return []

    _, request = answer(application)
    assert (request.log, request.sent) == (["first", "second"], b"written")


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/a%2525b/?q=%2F", "/a%25b/"),
        ("http://example.org/a%20b?q", "/a b"),
        ("http://example.org", "/"),
        ("//twice/", "//twice/"),
        ("*", "/"),
    ],
)
def test_a_path_is_taken_from_the_request_target_and_decoded_once(target, path, answer):
    seen = {}

    def application(environ, start_response):
        seen.update(environ)
        start_response("204 No Content", [])
        return []

    answer(application, target=target)
    assert seen["PATH_INFO"] == path
