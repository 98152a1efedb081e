import pytest

from stackrace.features.recordings.recorded.candidate import Candidate
from stackrace.features.recordings.recorded.roles import Role, role


def role_of(method, status, answer_type, resource_type, *headers):
    return role(
        Candidate(
            method=method,
            status=status,
            answer_type=answer_type,
            resource_type=resource_type or None,
            headers=headers,
        )
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
