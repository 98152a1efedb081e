"""What every stack must answer."""

import os
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examination import Reply
from stackrace.app.golden import golden, loosened, sameness, static_file
from stackrace.base.errors import AppError
from stackrace.measure.workload import AnswerOrigin, Sameness


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
    made = examination(reply(), path="/books/", via="/", added=("X-Forwarded-Proto", "X-Forwarded-For"), debug=True)
    debug, redirect, https, beside = made.notes
    assert "DEBUG is on in shop.settings" in debug
    assert "/ redirects to /books/" in redirect
    assert "is sent (X-Forwarded-Proto)" in https
    assert beside.startswith("X-Forwarded-For goes with")


@pytest.mark.parametrize(
    "name", ["50% off.css", "a b.css", "q?v#.css", 'say "hi".css', "fotös.css", "\udcff.css", "$a;{b}.css"]
)
def test_a_file_of_any_name_is_found_by_its_url(name, tmp_path):
    (tmp_path / name).touch()
    assert static_file("/s/" + quote(os.fsencode(name)), {"/s/": tmp_path}) == tmp_path / name
    assert static_file("/s/%00", {"/s/": tmp_path}) is None


def test_an_answer_that_is_too_large_is_refused_with_the_way_out(reply, examination):
    large = replace(reply(), excess="is larger than 32 MiB: it has 300 MiB")
    with pytest.raises(AppError, match=r"/ gives an answer that is larger than 32 MiB: it has 300 MiB; .*--url"):
        golden(examination(reply(), large))


def test_a_page_that_does_not_end_any_more_loosens_nothing(reply, examination):
    answer = golden(examination(reply())).answers[0]
    endless = replace(reply(body=b"other"), excess="does not end")
    assert loosened(answer, examination(reply(), endless).exchanges[0]) is None


def test_all_wrong_urls_are_named_at_once(examination, reply):
    wrong = examination(reply(404), path="/nowhere/")
    broken = examination(reply(500, traceback="ValueError: out of cheese"), path="/broken/")
    right = examination(reply(), path="/")
    exchanges = (*wrong.exchanges, *right.exchanges, *broken.exchanges)
    with pytest.raises(AppError) as error:
        golden(replace(right, exchanges=exchanges))
    assert error.value.message.startswith("2 URLs cannot be raced:")
    assert "/nowhere/ answers 404" in error.value.message
    assert "/broken/ answers 500: ValueError: out of cheese" in error.value.message
    assert error.value.detail == "ValueError: out of cheese"


@pytest.mark.parametrize(
    ("first", "second", "sameness"),
    [
        (b"<p>visitor 500</p>", b"<p>visitor 501</p>", Sameness.PARTS),
        (b"<p>visitor 500 ab</p><b>x</b>", b"<p>visitor 501 ab</p><b>y</b>", Sameness.STATUS),
        (b"<p>one</p>", b"<p>two</p>", Sameness.LENGTH),
        (b"<p>visitor 99</p>", b"<p>visitor 100</p>", Sameness.STATUS),
    ],
)
def test_a_number_may_grow(reply, examination, first, second, sameness):
    (answer,) = golden(examination(reply(body=first), reply(body=second))).answers
    assert answer.sameness is sameness
    if sameness is Sameness.PARTS:
        assert answer.parts == (b"<p>visitor ", b"</p>")


def test_of_many_numbers_only_the_ends_are_compared(reply, examination):
    numbers = b" ".join(b"%d" % number for number in range(100, 300))
    (answer,) = golden(
        examination(reply(body=b"a" + numbers + b"z"), reply(body=b"a" + numbers[::-1] + b"z"))
    ).answers
    assert answer.parts == (b"a", b"z")


def test_a_file_that_only_a_front_end_sends_is_known_as_such(tmp_path, reply, examination):
    (tmp_path / "site.css").write_bytes(b"body {}")
    made = examination(reply(404), path="/static/site.css", static={"/static/": tmp_path})
    assert golden(made).answers[0].origin is AnswerOrigin.FILE


@pytest.mark.parametrize(
    ("name", "kind", "origin"),
    [
        ("site.css", "text/html; charset=utf-8", AnswerOrigin.FILE),
        ("site.css", "text/css", AnswerOrigin.APP),
        ("help.html", "text/html", AnswerOrigin.APP),
    ],
)
def test_a_page_that_an_app_has_for_any_path_is_no_file(tmp_path, reply, examination, name, kind, origin):
    (tmp_path / name).write_bytes(b"body {}")
    page = reply(**{"Content-Type": kind})
    made = examination(page, page, path=f"/static/{name}", static={"/static/": tmp_path})
    assert golden(made).answers[0].origin is origin


def test_the_debug_toolbar_is_noticed(examination, reply):
    made = examination(reply(body=b'<div id="djDebug" hidden>'), path="/shop/")
    assert any("The Debug toolbar is in /shop/" in note for note in made.notes)
    assert not any("toolbar" in note for note in examination(reply()).notes)
