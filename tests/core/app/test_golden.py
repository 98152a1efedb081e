"""What every stack must answer."""

import os
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examination import has_toolbar
from stackrace.app.golden import _Cause, _causes, demanded, golden, in_words, loosened, rule_for, static_file
from stackrace.base.errors import AppError, InputError
from stackrace.measure.workload import Answer, AnswerOrigin, Likeness, RightAnswer, Sameness


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
    assert answer.origin is AnswerOrigin.FILE


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
    assert "Debug mode is on in shop.settings" in debug
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
    large = replace(reply(), body_bytes=300 << 20)
    with pytest.raises(AppError, match=r"/ gives an answer that is larger than 32 MiB: it has 300 MiB; .*--url"):
        golden(examination(reply(), large))


def test_a_page_that_does_not_end_any_more_loosens_nothing(reply, examination):
    answer = golden(examination(reply())).answers[0]
    endless = replace(reply(body=b"other"), endless=True)
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
        (b"<p>visitor 500 ab</p><b>x</b>", b"<p>visitor 501 ab</p><b>y</b>", Sameness.SIZE),
        (b"<p>one</p>", b"<p>two</p>", Sameness.LENGTH),
        (b"<p>visitor 99</p>", b"<p>visitor 100</p>", Sameness.SIZE),
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


PAGE = "<html><head>{head}</head><body><h1>Shop</h1><p>{text}</p>" + "<p>same</p>" * 20 + "</body></html>"


def page(text="hello", head=""):
    return PAGE.format(text=text, head=head).encode()


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        ("visitor 999", "visitor 1000", _Cause.NUMBER),
        ("at 12:59:59", "at 13:00:00", _Cause.TIME),
        ("on 2026-11-23", "on 2026-11-24", _Cause.TIME),
        ("23 Nov 2026", "1 Dec 2026", _Cause.TIME),
        ("in 0.012 seconds", "in 0.9 seconds", _Cause.TIME),
        ("built 1763912345", "built 1763912399", _Cause.TIME),
        ("request 0af3b2c1d4e5f607a8b9c0d1", "request 99f3b2c1d4e5f607a8b9c0d2", _Cause.IDENTIFIER),
        ("<input name=csrfmiddlewaretoken value=a>", "<input name=csrfmiddlewaretoken value=b>", _Cause.CSRF),
        ('<input name="authenticity_token" value="a">', '<input name="authenticity_token" value="b">', _Cause.CSRF),
        ('<script nonce="abc">', '<script nonce="xyz">', _Cause.NONCE),
        ("Buy now", "Add to your cart", _Cause.VARIANT),
        ("Buy now", "Buy now<p>and save", _Cause.VARIANT),
    ],
)  # fmt: skip
def test_what_differs_is_named(first, second, cause):
    assert _causes(page(first), page(second)) == (cause,)
    assert str(cause) in in_words(page(first), page(second))


def test_the_surest_cause_comes_first():
    toolbar = '<div id="djDebug" data-request-id="{}">'
    first, second = page("now 12:00:01", toolbar.format(1)), page("now 12:00:02", toolbar.format(2))
    assert _causes(first, second)[0] is _Cause.TOOLBAR
    assert has_toolbar(first)
    assert not has_toolbar(page("We love the djDebug toolbar"))


def test_json_is_taken_apart_too():
    assert _causes(b'{"id": 7, "name": "a"}', b'{"id": 12, "name": "a"}') == (_Cause.NUMBER,)


def test_of_another_page_nothing_is_said():
    assert _causes(page(), b"<html><body>Bad gateway</body></html>") == ()
    assert in_words(page(), page()) == ""


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_can_be_compared(first, second):
    assert set(_causes(first, second)) == set(_causes(second, first))
    assert (first == second) <= (not _causes(first, second))


ANSWER = Answer(status=200, body=b"one", content_type="text/html; charset=iso-8859-1", sameness=Sameness.LENGTH)


def right(likeness, *bodies, text=""):
    return demanded(ANSWER, RightAnswer(likeness=Likeness(likeness), text=text), "/x", bodies)


def test_each_rule_is_one_sameness():
    assert right("status", b"one", b"another").sameness is Sameness.STATUS
    assert right("length", b"one", b"two").sameness is Sameness.LENGTH
    assert right("exact", b"one", b"one").sameness is Sameness.BODY
    answer = right("contains", b"<p>one</p>", b"one", text="one")
    assert (answer.sameness, answer.parts) == (Sameness.PARTS, (b"", b"one", b""))


def test_a_text_is_looked_for_in_the_page_s_own_charset():
    assert right("contains", "caf\u00e9".encode("latin-1"), text="caf\u00e9").parts[1] == b"caf\xe9"


@pytest.mark.parametrize(
    ("likeness", "bodies", "said"),
    [
        ("length", [b"one", b"three"], "3 and 5 bytes"),
        ("exact", [b"one", b"two"], "not exactly alike"),
        ("contains", [b"one", b"two"], "does not contain 'one'"),
        ("exact", [], "nothing is known of its body"),
    ],
)
def test_a_rule_that_the_app_itself_breaks_is_refused_with_the_way_out(likeness, bodies, said):
    with pytest.raises(InputError, match=said) as refused:
        right(likeness, *bodies, text="one")
    assert "check of /x" in refused.value.message


def test_a_page_s_own_rule_comes_first():
    one, two = RightAnswer(likeness=Likeness.STATUS), RightAnswer(likeness=Likeness.EXACT)
    assert rule_for({"/": one, "*": two}, "/") is one
    assert rule_for({"/": one, "*": two}, "/other") is two
    assert rule_for({"/": one}, "/other", "/") is one
    assert rule_for({"/": one}, "/other") is None


def test_what_changes_in_a_page_that_is_to_be_exact_is_named():
    page = b"<p>shop</p>" * 5 + b'<input name="csrfmiddlewaretoken" value="%s">'
    with pytest.raises(InputError, match="it has a CSRF token of its own"):
        right("exact", page % b"abc", page % b"xyz")
