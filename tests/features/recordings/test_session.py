"""The roles of requests, their order and their pauses."""

from dataclasses import replace

import pytest

from stackrace.features.recordings.candidate import Candidate
from stackrace.features.recordings.har import _Role, _role, _session_steps
from stackrace.measure.workload import Request

WANTS_PAGE = ("Accept", "text/html,*/*;q=0.8")


def fetched(destination):
    return ("Sec-Fetch-Dest", destination)


@pytest.mark.parametrize(
    ("expected", "method", "status", "answer_type", "resource_type", "headers"),
    [
        # the browser knows best
        (_Role.PAGE, "GET", 200, "text/html", None, [fetched("document")]),
        (_Role.PART, "GET", 200, "text/html", "document", [fetched("iframe")]),
        (_Role.CALL, "GET", 200, "text/html", None, [fetched("empty")]),
        (_Role.PAGE, "POST", 302, "", None, [fetched("document")]),
        (_Role.PART, "GET", 200, "text/html", None, [fetched("image")]),
        # then the exporter
        (_Role.PAGE, "GET", 200, "x-unknown", "document", []),
        (_Role.CALL, "GET", 200, "text/html", "xhr", []),
        (_Role.CALL, "GET", 200, "text/css", "fetch", []),
        (_Role.PART, "GET", 200, "text/html", "stylesheet", []),
        (_Role.CALL, "POST", 204, "", "ping", []),
        # then the answer
        (_Role.PAGE, "GET", 200, "Text/HTML; charset=utf-8", None, []),
        (_Role.PAGE, "GET", 200, "application/xhtml+xml", None, []),
        (_Role.PART, "GET", 200, "text/css", None, []),
        (_Role.CALL, "GET", 200, "application/problem+json", None, []),
        (_Role.PAGE, "GET", 302, "", None, [WANTS_PAGE]),
        (_Role.PART, "GET", 302, "", None, [("Accept", "image/webp")]),
        (_Role.PART, "GET", 304, "", None, [WANTS_PAGE]),
        (_Role.CALL, "GET", 200, "text/html", None, [("X-Requested-With", "XMLHttpRequest")]),
        (_Role.PAGE, "POST", 200, "text/html", None, []),
        (_Role.CALL, "DELETE", 204, "", None, []),
    ],
)
def test_the_surest_sign_tells_the_role(expected, method, status, answer_type, resource_type, headers):
    request = Request(path="/", method=method, headers=tuple(headers))
    candidate = Candidate(request=request, status=status, answer_type=answer_type, resource_type=resource_type)
    assert _role(candidate) is expected


SECOND_NS = 10**9


def at(path, answer_type, started_s, took_s, page=None):
    """A request for ``path``, started after and taking so many seconds."""
    return Candidate(
        request=Request(path=path),
        answer_type=answer_type,
        started_ns=started_s * SECOND_NS,
        took_ns=took_s * SECOND_NS,
        page=page,
    )


def summary(candidates):
    """Path, pause in seconds, and whether it is embedded."""
    return [(asked.path, asked.think_s, asked.embedded) for asked, _, _ in _session_steps(candidates)]


def test_a_pause_runs_from_the_end_of_all_before():
    session = [
        at("/", "text/html", 100, 1),
        at("/slow.png", "image/png", 101, 9),
        at("/fast.css", "text/css", 101, 1),
        at("/next", "text/html", 113, 1),
        at("/api", "application/json", 113, 1),
        at("/api?later", "application/json", 120, 1),
    ]
    assert summary(session) == [
        ("/", 0, False),
        ("/slow.png", 0, True),
        ("/fast.css", 0, True),
        ("/next", 3, False),
        ("/api", 0, False),
        ("/api?later", 6, False),
    ]


def test_requests_come_in_the_order_they_were_started_in():
    session = [
        at("/c", "text/html", 30, 0),
        at("/b", "text/html", 20, 0),
        replace(at("/b?undated", "text/css", 0, 0), started_ns=None),
        at("/a", "text/html", 10, 0),
        at("/b?same", "text/html", 20, 0),
    ]
    assert [path for path, _, _ in summary(session)] == ["/a", "/b", "/b?undated", "/b?same", "/c"]


def test_a_part_without_its_page_stands_alone():
    session = [
        at("/early.css", "text/css", 1, 0),
        at("/", "text/html", 2, 0, "page_1"),
        at("/other.css", "text/css", 3, 0, "page_2"),
        at("/late.css", "text/css", 4, 0, "page_1"),
        at("/early.js", "text/javascript", 5, 0),
    ]
    assert [embedded for _, _, embedded in summary(session)] == [False, False, False, True, False]


def test_pauses_are_neither_negative_nor_endless():
    session = [
        at("/", "text/html", -9_000_000_000, 1),
        at("/a", "text/html", 9_000_000_000, 9_000_000_000),
        at("/b", "text/html", 9_000_000_001, 0),
    ]
    assert summary(session) == [("/", 0, False), ("/a", 24 * 3600, False), ("/b", 0, False)]
    undated = [replace(at("/", "text/html", 0, 0), started_ns=None), at("/a", "text/html", 99, 0)]
    assert summary(undated) == [("/", 0, False), ("/a", 0, False)]
