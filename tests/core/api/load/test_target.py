"""From flags to requests, right answers, and whom to trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tls import Certificate

from stackrace.api.load.options import LoadOptions, refuse_contradictions
from stackrace.api.load.target import target_of
from stackrace.base.errors import InputError
from stackrace.measure.engine.load_run import Target
from stackrace.measure.load import Load
from stackrace.measure.workload import Nonce, NoncePlace, Order, Sameness

URL = "http://127.0.0.1:8000/"


def target(*urls: str, **given: object) -> Target:
    return target_of(LoadOptions(urls=urls or (URL,), **given))  # type: ignore[arg-type]


def test_a_url_alone_is_a_get_that_any_2xx_answers() -> None:
    found = target()
    (request,) = found.workload.requests
    assert (found.address, found.tls, found.workload.host) == (("127.0.0.1", 8000), None, "127.0.0.1:8000")
    assert (request.method, request.path, request.headers, request.body) == ("GET", "/", (), b"")
    assert found.workload.answers == ()
    assert (found.workload.order, found.workload.cookies, found.workload.nonce) == (Order.TURN, False, None)
    assert (found.is_local, found.pauses) == (True, False)


def test_data_is_posted_as_a_form_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"\x00\xff")
    (form,) = target(data="a=1&b=ü").workload.requests
    assert (form.method, form.body) == ("POST", "a=1&b=ü".encode())
    assert form.headers == (("Content-Type", "application/x-www-form-urlencoded"),)
    given = {"data": f"@{tmp_path / 'body'}", "method": "put", "headers": ("content-TYPE: text/plain", "X:  y ")}
    (file,) = target(**given).workload.requests
    assert (file.method, file.body) == ("PUT", b"\x00\xff")
    assert file.headers == (("content-TYPE", "text/plain"), ("X", "y"))


def test_bodies_may_be_chunked_and_asked_for() -> None:
    (request,) = target(data="x", chunked=0.5, expect_continue=True).workload.requests
    assert (request.chunk_bytes, request.expects_continue) == (1, True)


def test_cookies_make_visitors_of_connections() -> None:
    found = target(URL, f"{URL}cart", cookies=True, nonce=Nonce(place=NoncePlace.QUERY, name="n"))
    assert [one.path for one in found.workload.requests] == ["/", "/cart"]
    assert (found.workload.order, found.workload.cookies) == (Order.SESSION, True)
    assert found.workload.nonce == Nonce(place=NoncePlace.QUERY, name="n")


def test_a_status_alone_says_nothing_of_the_body() -> None:
    answers = target(URL, f"{URL}a", expect_status=404).workload.answers
    assert [(one.status, one.sameness) for one in answers] == [(404, Sameness.STATUS)] * 2


def test_a_body_is_right_byte_by_byte_but_for_what_is_masked(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"<p>12:30</p>")
    (whole,) = target(expect_body=tmp_path / "body").workload.answers
    assert (whole.status, whole.body, whole.sameness) == (None, b"<p>12:30</p>", Sameness.BODY)
    (parts,) = target(expect_body=tmp_path / "body", masks=(r"\d\d:\d\d",), expect_status=203).workload.answers
    assert (parts.status, parts.sameness, parts.parts) == (203, Sameness.PARTS, (b"<p>", b"</p>"))


def test_a_unix_socket_needs_no_name_to_be_known() -> None:
    found = target("http://shop.example/cart", unix_socket="/run/shop.sock")
    assert (found.address, found.workload.host, found.is_local) == ("/run/shop.sock", "shop.example", True)


def test_https_trusts_whom_it_is_told_to(certificate: Certificate) -> None:
    url = "https://localhost:8443/"
    mine = target(url, cacert=certificate.file, tls="1.3").tls
    assert mine is not None
    assert (mine.name, mine.authorities, mine.versions) == ("localhost", certificate.file.read_bytes(), ("1.3",))
    anyone = target(url, insecure=True).tls
    assert anyone is not None
    assert (anyone.authorities, anyone.versions) == (None, ("1.2", "1.3"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Load(concurrency=10, duration_s=10.0)),
        ({"requests": 5000.0}, Load(concurrency=10, requests=5000)),
        ({"rate": 200.0}, Load(concurrency=1000, duration_s=10.0, rate_per_s=200.0)),
        (
            {"rate": 200.0, "poisson": True, "seed": 7, "concurrency": 5, "duration": 2.0},
            Load(concurrency=5, duration_s=2.0, rate_per_s=200.0, poisson=True, seed=7),
        ),
        (
            {"close": True, "timeout": 1.0, "connect_timeout": 0.5},
            Load(concurrency=10, duration_s=10.0, keep_alive=False, timeout_s=1.0, connect_timeout_s=0.5),
        ),
        ({"requests_per_connection": 100}, Load(concurrency=10, duration_s=10.0, requests_per_connection=100)),
    ],
)
def test_flags_are_a_load(given: dict[str, object], expected: Load) -> None:
    assert LoadOptions(urls=(URL,), **given).load(open_connections=1000) == expected  # type: ignore[arg-type]


def test_a_recording_is_sent_from_the_site_that_the_headers_tell_of(tmp_path: Path) -> None:
    asked = {
        "method": "POST",
        "url": "https://shop.example/a",
        "headers": [{"name": "Origin", "value": "https://shop.example"}],
    }
    file = tmp_path / "visit.har"
    file.write_text(json.dumps({"log": {"entries": [{"request": asked, "response": {"status": 200}}]}}))
    for headers, origin in ((), "http://127.0.0.1:8000"), (("X-Forwarded-Proto: https",), "https://127.0.0.1:8000"):
        found = target(session=file, headers=headers)
        assert ("Origin", origin) in found.workload.requests[0].headers
        assert (found.address, found.tls, found.workload.host) == (("127.0.0.1", 8000), None, "127.0.0.1:8000")


def test_a_rate_that_no_engine_reaches_is_refused() -> None:
    with pytest.raises(InputError, match="--rate is more than 1 M/s"):
        refuse_contradictions(LoadOptions(urls=(URL,), rate=1e9))
    refuse_contradictions(LoadOptions(urls=(URL,), rate=1e6))
