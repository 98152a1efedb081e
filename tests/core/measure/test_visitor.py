"""Who asks a launched stack for everything once; a real server answers."""

import pytest
from tests.http_servers import Hello, Server, serving

from stackrace.measure.engine.visitor import _MOST_QUESTIONS, Reply, Visitor, difference, questions
from stackrace.measure.workload import Answer, Request, Sameness, Workload

ANSWER = Answer(status=200, body=b"", content_type="", sameness=Sameness.STATUS)


def workload(*requests, cookies=False):
    return Workload(requests=requests, answers=(ANSWER,) * len(requests), cookies=cookies)


COOKIES = {
    "/login": ("session=1; Path=/; HttpOnly", "seen=2"),
    "/city": ("city=Łódź".encode().decode("latin-1"),),
    "/logout": ("session=; Max-Age=0",),
}


class Shop(Hello):
    """Gives and takes cookies by path, and answers with those it got."""

    def respond(self):
        body = self.headers.get("Cookie", "none").encode("latin-1")
        self.answer(body, 200, *(("Set-Cookie", cookie) for cookie in COOKIES.get(self.path, ())))


@pytest.fixture
def port():
    with serving(Server(Shop)) as server:
        yield server.server_port


def test_everything_is_asked_for_once_in_order():
    a, b, sent = Request(path="/a"), Request(path="/b"), Request(path="/a", method="POST", body=b"x")
    assert [request for request, _ in questions(workload(a, b, a, sent, b))] == [a, b, sent]


def test_of_a_long_session_the_beginning():
    requests = [Request(path=f"/{number}") for number in range(3 * _MOST_QUESTIONS)]
    assert [request for request, _ in questions(workload(*requests))] == requests[:_MOST_QUESTIONS]


def test_a_visitor_returns_cookies_until_they_are_deleted(port):
    visitor = Visitor("127.0.0.1", port, workload(cookies=True))
    said = [visitor.ask(Request(path=path), 300.0).body for path in ("/", "/login", "/cart", "/logout", "/")]
    assert said == [b"none", b"none", b"session=1; seen=2", b"session=1; seen=2", b"seen=2"]


def test_whoever_is_no_visitor_keeps_none(port):
    visitor = Visitor("127.0.0.1", port, workload())
    assert [visitor.ask(Request(path=path), 300.0).body for path in ("/login", "/cart")] == [b"none", b"none"]


def test_headers_and_cookies_are_sent_in_utf_8(port):
    visitor = Visitor("127.0.0.1", port, workload(cookies=True))
    mine = Request(path="/", headers=(("Cookie", "city=Łódź"),))
    assert visitor.ask(mine, 300.0).body == "city=Łódź".encode()
    visitor.ask(Request(path="/city"), 300.0)
    assert visitor.ask(Request(path="/"), 300.0).body == "city=Łódź".encode()


@pytest.mark.parametrize(
    ("body", "golden", "words"),
    [
        (b"x" * 4_000, b"x" * 200_000, "4000 bytes where the app itself answers about 200000"),
        (b"x" * 200_000, b"x" * 4_000, "200000 bytes where the app itself answers about 4000"),
        (b"x" * 4_000, b"x" * 7_000, ""),
        (b"[]", b"[1, 2, 3, 4]", ""),
    ],
)
def test_a_page_whose_length_changes_is_still_no_other_page(body, golden, words):
    answer = Answer(status=200, body=golden, content_type="", sameness=Sameness.SIZE)
    assert difference(Reply(status=200, body=body), answer) == words
