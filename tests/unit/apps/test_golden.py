import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.apps import Reply, golden
from stackrace.apps.golden import sameness, static_file
from stackrace.model.errors import AppError
from stackrace.model.workload import Sameness


def plain(body):
    return Reply(status=200, headers=(), body=body)


@given(st.binary(), st.binary())
def test_sameness_is_symmetric_and_claims_nothing_the_answers_deny(one, other):
    found = sameness(plain(one), plain(other))
    assert found is sameness(plain(other), plain(one))
    assert (found is Sameness.BODY) == (one == other)
    assert (found is Sameness.STATUS) == (len(one) != len(other))


def test_a_golden_answer_keeps_what_the_app_said(reply, examination):
    headers = {"Content-Type": "text/plain"}
    workload = golden(examination(reply(**headers), reply(body=b"HELLO"), path="/x"))
    (answer,) = workload.answers
    assert (answer.status, answer.body, answer.content_type) == (200, b"hello", "text/plain")
    assert answer.sameness is Sameness.LENGTH
    assert workload.requests[0].path == "/x"
    assert workload.host == "shop.example.com"


def test_a_second_answer_that_fails_is_not_overlooked(reply, examination):
    with pytest.raises(AppError, match="answers 500"):
        golden(examination(reply(), reply(500)))


def test_a_file_the_front_end_serves_is_its_own_golden_answer(tmp_path, reply, examination):
    (tmp_path / "site.css").write_bytes(b"body {}")
    made = examination(reply(404), path="/static/site.css?v=1", static={"/static/": tmp_path})
    (answer,) = golden(made).answers
    assert (answer.body, answer.content_type, answer.sameness) == (b"body {}", "text/css", Sameness.BODY)


def test_no_file_outside_the_folder_is_served(tmp_path):
    folder = tmp_path / "static"
    folder.mkdir()
    (tmp_path / "secret").touch()
    assert static_file("/static/../secret", {"/static/": folder}) is None
    assert static_file("/static/%2e%2e/secret", {"/static/": folder}) is None
    assert static_file("/secret", {"/static/": folder}) is None


def test_the_longest_prefix_decides(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x").touch()
    assert static_file("/s/m/x", {"/s/": tmp_path / "a", "/s/m/": tmp_path / "b"}) == tmp_path / "b" / "x"


def test_notes_tell_what_was_decided_for_the_user(reply, examination):
    made = examination(reply(), path="/books/", via="/", added=("X-Forwarded-Proto",), debug=True)
    debug, redirect, https = made.notes
    assert "DEBUG is on in shop.settings" in debug
    assert "/ redirects to /books/" in redirect
    assert "X-Forwarded-Proto" in https
