"""Headers and URL prefixes, as users write them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.errors import InputError
from stackrace.base.http_syntax import _url_prefix, by_prefix, client_used_tls, is_below


@pytest.mark.parametrize(
    "header",
    [
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Proto", "HTTPS"),
        ("x-forwarded-ssl", "on"),
        ("X-Forwarded-Protocol", "ssl"),
        ("Front-End-Https", "on"),
        ("X-Scheme", "https"),
        ("CloudFront-Forwarded-Proto", "https"),
    ],
)
def test_whatever_a_proxy_calls_it_tls_is_heard_of(header):
    assert client_used_tls([("Accept", "text/html"), header])


@pytest.mark.parametrize(
    "header", [("X-Forwarded-Proto", "http"), ("DNT", "on"), ("Referer", "https://shop.example/"), ("X-Ssl", "off")]
)
def test_other_headers_say_nothing_of_it(header):
    assert not client_used_tls([header])


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("/static/", "/static/"),
        ("/static", "/static/"),
        ("/a/b.c/~d/", "/a/b.c/~d/"),
        ("/fot%C3%B6s%2B2", "/fotös+2/"),
        ("/fotös/", "/fotös/"),
        ("/st%61tic/", "/static/"),
    ],
)
def test_a_prefix_is_what_servers_compare(text, prefix):
    assert _url_prefix(text) == prefix


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", "//", "static/", "/a//b/", "/a/../b/", "/./", "/%2e%2e/", "/a/%2F/"),
        *("/%", "/%zz/", "/100%/", "/%ff/", "/%00/", "/a%0Ab/", "/a\nb/", "/a\0/", "/a\x7f/", "/\udcff/"),
        *(
            '/a"b/',
            "/a'b/",
            "/a`b/",
            "/a$b/",
            "/${HOME}/",
            "/%24/",
            "/%25/",
            "/a;b/",
            "/a%20b/",
            "/a=b/",
            "/{b}/",
            "/a\\b/",
            "/a#b/",
        ),
        *("/a?b/", "/a*b/", "/[b]/", "/<b>/", "/a|b/", "/a^b/", "/a\u2028b/", "/a\u00a0b/", "/a\u200bb/"),
        '/x" { return 200 injected; } location "/y/',
    ],
)
def test_another_is_refused_by_name(text):
    with pytest.raises(InputError) as refused:
        _url_prefix(text)
    assert repr(text) in refused.value.message


@given(st.text(min_size=1))
def test_whatever_is_taken_is_taken_again_as_it_is(text):
    try:
        prefix = _url_prefix("/" + text)
    except InputError:
        return
    assert _url_prefix(prefix) == prefix
    assert not set(prefix) & set("\"'`$%;{}\\#?*[]<>|^\n\r\t\0")


def test_the_longest_prefix_comes_first():
    folders = by_prefix({"/a/": Path("1"), "/a/b/c": Path("2"), "/a/b": Path("3")})
    assert list(folders.items()) == [("/a/b/c/", Path("2")), ("/a/b/", Path("3")), ("/a/", Path("1"))]


def test_two_spellings_of_a_prefix_are_refused():
    with pytest.raises(InputError, match="keep one of them"):
        by_prefix({"/static": Path("1"), "/static/": Path("2")})


def test_a_requests_path_is_decoded_before_it_is_compared():
    assert is_below("/fot%C3%B6s/a.jpg?b", ["/fotös/"])
    assert not is_below("/static../a", ["/static/"])
    assert not is_below("/page?from=/static/", ["/static/"])
