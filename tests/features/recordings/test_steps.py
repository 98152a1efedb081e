"""What of a recorded request is kept, and what is left out."""

from stackrace.features.recordings.recorded_steps import replayable


def test_headers_of_the_connection_go():
    recorded = [
        (":authority", "shop.example"),
        ("Host", "shop.example"),
        ("Accept", " text/html "),
        ("CONNECTION", "Keep-Alive, X-Hop"),
        ("Keep-Alive", "timeout=5"),
        ("x-hop", "1"),
        ("Content-Length", "3"),
        ("Transfer-Encoding", "chunked"),
        ("TE", "trailers"),
        ("Upgrade", "websocket"),
        ("Proxy-Connection", "keep-alive"),
        ("Expect", "100-continue"),
        ("Accept-Encoding", "gzip, br"),
        ("Cookie", "a=b"),
        ("Upgrade-Insecure-Requests", "1"),
    ]
    assert replayable(recorded) == (
        ("Accept", "text/html"),
        ("Accept-Encoding", "gzip, br"),
        ("Cookie", "a=b"),
        ("Upgrade-Insecure-Requests", "1"),
    )


def test_conditions_of_a_cache_go_and_those_of_a_writer_stay():
    recorded = [("If-None-Match", '"x"'), ("if-modified-since", "x"), ("If-Range", "x"), ("If-Match", '"y"')]
    assert replayable(recorded) == (("If-Match", '"y"'),)


def test_what_could_not_be_a_header_goes():
    odd = [("", "x"), ("a b", "x"), ("a:", "x"), ("ü", "x"), ("x", "a\r\nb"), ("y", "a\0"), ("z", "a\tü")]
    assert replayable(odd) == (("z", "a\tü"),)
