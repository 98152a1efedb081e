"""The roles of requests, their order and their pauses."""

from dataclasses import replace

import pytest

from stackrace.features.recordings.candidate import Candidate
from stackrace.features.recordings.har import Role, role, session_steps
from stackrace.measure.workload import Request


def role_of(method, status, answer_type, resource_type, *headers):
    request = Request(path="/", method=method, headers=headers)
    return role(
        Candidate(request=request, status=status, answer_type=answer_type, resource_type=resource_type or None)
    )


@pytest.mark.parametrize(
    ("method", "status", "answer_type", "resource_type", "destination", "expected"),
    [
        ("GET", 200, "text/html", "", "document", Role.PAGE),
        ("GET", 200, "text/html", "document", "iframe", Role.PART),
        ("GET", 200, "text/html", "", "empty", Role.CALL),
        ("POST", 302, "", "", "document", Role.PAGE),
        ("GET", 200, "text/html", "", "image", Role.PART),
    ],
)
def test_the_browser_knows_best(method, status, answer_type, resource_type, destination, expected):
    assert role_of(method, status, answer_type, resource_type, ("Sec-Fetch-Dest", destination)) is expected


def test_then_the_exporter():
    assert role_of("GET", 200, "x-unknown", "document") is Role.PAGE
    assert role_of("GET", 200, "text/html", "xhr") is Role.CALL
    assert role_of("GET", 200, "text/css", "fetch") is Role.CALL
    assert role_of("GET", 200, "text/html", "stylesheet") is Role.PART
    assert role_of("POST", 204, "", "ping") is Role.CALL


def test_then_the_answer():
    wants_page = ("Accept", "text/html,*/*;q=0.8")
    assert role_of("GET", 200, "Text/HTML; charset=utf-8", "") is Role.PAGE
    assert role_of("GET", 200, "application/xhtml+xml", "") is Role.PAGE
    assert role_of("GET", 200, "text/css", "") is Role.PART
    assert role_of("GET", 200, "application/problem+json", "") is Role.CALL
    assert role_of("GET", 302, "", "", wants_page) is Role.PAGE
    assert role_of("GET", 302, "", "", ("Accept", "image/webp")) is Role.PART
    assert role_of("GET", 304, "", "", wants_page) is Role.PART
    assert role_of("GET", 200, "text/html", "", ("X-Requested-With", "XMLHttpRequest")) is Role.CALL
    assert role_of("POST", 200, "text/html", "") is Role.PAGE
    assert role_of("DELETE", 204, "", "") is Role.CALL


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
    return [(asked.path, asked.think_s, asked.embedded) for asked, _, _ in session_steps(candidates)]


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
