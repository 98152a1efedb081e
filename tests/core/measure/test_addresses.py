"""Addresses of requests, as recordings and race files have them."""

import pytest

from stackrace.measure.engine.url import origin_form, split_url


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://shop.example", "http://shop.example", "/"),
        ("HTTP://Shop.Example:80/A?b=C#d", "http://shop.example", "/A?b=C"),
        ("https://shop.example:443?q", "https://shop.example", "/?q"),
        ("https://shop.example:8443/", "https://shop.example:8443", "/"),
        ("http://me:secret@shop.example:8000/x", "http://shop.example:8000", "/x"),
        ("http://[2001:DB8::7]:8000/x", "http://[2001:db8::7]:8000", "/x"),
        ("http://[::1]/", "http://[::1]", "/"),
        ("http://127.0.0.1:/", "http://127.0.0.1", "/"),
    ],
)
def test_a_url_is_an_origin_and_a_path(url, origin, path):
    assert split_url(url.encode()) == (origin, path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/",
        "data:text/plain,x",
        "ws://shop.example/",
        "chrome-extension://abc/x.js",
        "http:/shop.example",
        "http://",
        "http:///x",
        "http://shop.example:x/",
        "http://shop.example:+80/",
        "http://shop.example:65536/",
        "http://a b/",
        "http://a\r\nb/",
        "http://[zz]/",
        "http://[::1/",
        "http://shöp.example/",
    ],
)
def test_what_is_no_web_address_has_no_parts(url):
    assert split_url(url.encode()) is None


def test_a_server_whose_name_is_no_text_has_no_address():
    assert split_url(b"http://shop\xff.example/") is None


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"", "/"),
        (b"?a=b", "/?a=b"),
        (b"/a b?c=d e", "/a%20b?c=d%20e"),
        (b"/%7Euser/%zz", "/%7Euser/%zz"),
        (b"/caf\xc3\xa9", "/caf%C3%A9"),
        (b'/\xff\x00\r\n"<>\\^`{|}[]', "/%FF%00%0D%0A%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D"),
        (b"//twice", "//twice"),
        (b"#only", "/"),
    ],
)
def test_a_path_may_hold_what_a_request_line_may(target, path):
    assert origin_form(target) == path
