import pytest

from stackrace.base.http_syntax import tells_of_tls


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
    assert tells_of_tls([("Accept", "text/html"), header])


@pytest.mark.parametrize(
    "header", [("X-Forwarded-Proto", "http"), ("DNT", "on"), ("Referer", "https://shop.example/"), ("X-Ssl", "off")]
)
def test_other_headers_say_nothing_of_it(header):
    assert not tells_of_tls([header])
