"""Why two answers differ, recognised from what they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examination import has_toolbar
from stackrace.app.golden import _Cause, _causes, in_words

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
