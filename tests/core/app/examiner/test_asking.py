import base64
from functools import partial
from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner import asking
from stackrace.app.examiner.asking import _FORWARDED_FOR, Asking, _difference, _local_target
from stackrace.app.examiner.messages import Reply, WireRequest

replies = st.tuples(st.sampled_from([200, 204, 500]), st.binary(max_size=3)).map(
    lambda pair: Reply(pair[0], (), pair[1])
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    """While the app is asked no time passes."""
    monkeypatch.setattr(asking, "time", Clock())


class Clock:
    """Stands still, unless it is given what it will say."""

    def __init__(self, monotonic=(), perf_counter=(), process_time=()):
        self.monotonic, self.perf_counter, self.process_time = (
            partial(next, chain(said, repeat(0.0))) for said in (monotonic, perf_counter, process_time)
        )

    def sleep(self, seconds):
        pass


class Script:
    """Answers from a list, the last one for ever; remembers what it was asked."""

    def __init__(self, *replies):
        self._replies = chain(replies, repeat(replies[-1]))
        self.asked = []

    def call(self, asked):
        self.asked.append(asked)
        return next(self._replies)


def ask(script, follow=False, added=(), **request):
    message = {"method": "GET", "path": "/", "headers": [], "body": ""} | request
    (exchange,) = Asking(script, "127.0.0.1", added, lambda text: None).all_of([message], follow=follow)
    return exchange


def body(text):
    return Reply(200, (), text)


@given(replies, replies)
def test_difference_is_symmetric_and_zero_only_for_equal_answers(one, other):
    assert _difference(one, other) == _difference(other, one)
    assert (_difference(one, other) == 0) == (one == other)


def test_a_constant_answer_is_asked_for_often():
    script = Script(body(b"same"))
    exchange = ask(script)
    assert exchange.second == exchange.first
    assert len(script.asked) == asking._MOST


def test_a_page_without_end_is_asked_for_once():
    script = Script(Reply(200, (), b"abc", "", 3000, True))
    exchange = ask(script)
    assert (len(script.asked), exchange.second.endless) == (1, True)


def test_a_rare_difference_is_found():
    script = Script(*[body(b"same")] * 7, body(b"SAME"), body(b"same"))
    assert ask(script).second.body == b"SAME"


RARE = {
    "one among many": ([b"a"] * 4 + [b"b"] + [b"a"], True),
    "one of another length": ([b"a"] * 4 + [b"bb"] + [b"a"], True),
    "one among many, again and again": ([b"a"] * 4 + [b"b"] + [b"a"] * 9 + ([b"b"] + [b"a"] * 9) * 20, True),
    "a change that stays, as of the time": ([b"a"] * 4 + [b"b"], False),
    "a longer one that stays": ([b"a"] * 4 + [b"bb"], False),
    "the first alone": ([b"a", b"b"], False),
    "two in turn": ([b"a", b"a", b"b"] * 60, False),
    "none": ([b"a"], False),
}


@pytest.mark.parametrize("case", RARE)
def test_a_few_answers_that_differ_among_many_are_rare(case):
    bodies, is_rare = RARE[case]
    assert ask(Script(*map(body, bodies))).rarely is is_rare


def test_a_different_length_counts_more_than_a_different_body_and_ends_the_asking():
    script = Script(body(b"aa"), body(b"bb"), body(b"c"), body(b"dd"))
    assert ask(script).second.body == b"c"
    assert len(script.asked) == 3


def test_a_rare_length_of_what_varies_is_found():
    script = Script(*[body(b"ab"), body(b"cd")] * 40, body(b"c"), body(b"ab"))
    assert ask(script).second.body == b"c"


def test_what_varies_in_no_length_is_asked_for_the_most():
    script = Script(body(b"ab"), body(b"cd"))
    ask(script)
    assert len(script.asked) == asking._MOST_VARYING


def test_a_failure_is_asked_twice_and_no_more():
    script = Script(Reply(404))
    assert ask(script).second.status == 404
    assert len(script.asked) == 2


def test_the_host_and_added_headers_never_replace_the_users():
    added = (("X-Forwarded-Proto", "https"),)
    script = Script(body(b""))
    both = [*added, _FORWARDED_FOR]
    assert ask(script, added=added).added == tuple(both)
    assert script.asked[0].headers == (("Host", "127.0.0.1"), *both)
    for scheme in ("http", "https"):
        script = Script(body(b""))
        own = [["host", "a"], ["X-Forwarded-Proto", scheme]]
        # not told as added, lest it be sent twice
        assert ask(script, added=added, headers=own).added == (_FORWARDED_FOR,)
        assert script.asked[0].headers == (_FORWARDED_FOR, ("host", "a"), ("X-Forwarded-Proto", scheme))
    script = Script(body(b""))
    own.append(["x-forwarded-for", "203.0.113.7"])
    assert ask(script, headers=own).added == ()


def test_a_body_brings_its_length():
    script = Script(body(b""))
    ask(script, method="POST", body=base64.b64encode(b"abc").decode())
    assert ("Content-Length", "3") in script.asked[0].headers
    assert script.asked[0].body == b"abc"


def redirect(path):
    return Reply(302, (("Location", path),), b"")


def test_redirects_are_followed_if_permitted():
    assert ask(Script(redirect("/books"), body(b"books")), follow=False).path == "/"
    exchange = ask(Script(redirect("/books"), redirect("/login?next=/books"), body(b"login")), follow=True)
    assert (exchange.path, exchange.via) == ("/login?next=/books", "/")
    assert exchange.first.body == b"login"


def test_redirects_without_an_end_are_followed_to_a_limit():
    endless = ask(Script(*(redirect(f"/{number}") for number in range(20))), follow=True)
    assert endless.path == f"/{asking._MOST_REDIRECTS - 1}"
    assert ask(Script(redirect("/a"), redirect("/b"), redirect("/a")), follow=True).path == "/b"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b?c=d", "/b?c=d"),
        ("b", "/a/b"),
        ("http://shop.example.com/b", "/b"),
        ("http://shop.example.com", "/"),
        ("https://shop.example.com/b", ""),
        ("http://other.example.com/b", ""),
        ("/a/", ""),
        ("", ""),
    ],
)
def test_only_redirects_within_the_site_count(location, target):
    asked = WireRequest("GET", "/a/", (("Host", "shop.example.com"),), b"")
    assert _local_target(asked, Reply(301, (("location", location),))) == target
    assert _local_target(asked, Reply(200, (("location", location),))) == ""


def test_tracebacks_belong_to_server_errors_only():
    assert ask(Script(Reply(404, traceback="x"))).first.traceback == ""
    assert ask(Script(Reply(500, traceback="x"))).first.traceback == "x"


def test_what_an_answer_takes_is_the_median_of_all_but_the_first(monkeypatch):
    wall, cpu = [0.0, 0.3, 1.0, 1.1, 2.0, 2.2], [0.0, 0.03, 1.0, 1.01, 2.0, 2.02]
    monkeypatch.setattr(asking, "time", Clock(perf_counter=wall, process_time=cpu))
    # of which the last one ends the asking
    exchange = ask(Script(*[body(b"same")] * 3, body(b"longer")))
    assert exchange.wall_s == pytest.approx(0.2)
    assert exchange.cpu_s == pytest.approx(0.02)


def test_it_is_noted_when_every_request_was_answered_once():
    script, noted = Script(body(b"same")), []
    messages = [{"method": "GET", "path": path, "headers": [], "body": ""} for path in ("/a", "/b")]
    asker = Asking(script, "127.0.0.1", (), lambda text: None)
    asker.all_of(messages, follow=False, after_first=lambda: noted.extend(asked.path for asked in script.asked))
    assert noted == ["/a", "/b"]


def test_a_slow_page_is_asked_for_no_longer_than_patience_lasts(monkeypatch):
    monkeypatch.setattr(asking, "time", Clock([0.0, 0.4, 0.8, 1.2]))
    script = Script(body(b"same"))
    ask(script)
    assert len(script.asked) == 3


def test_in_doubt_a_rare_variant_is_looked_for():
    message = {"method": "GET", "path": "/", "headers": [], "body": ""}
    script = Script(*[body(b"same")] * 300, body(b"other"), body(b"same"))
    (exchange,) = Asking(script, "127.0.0.1", (), lambda text: None, True).all_of([message], follow=False)
    assert exchange.second.body == b"other"
