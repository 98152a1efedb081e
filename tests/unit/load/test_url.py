from __future__ import annotations

import pytest

from stackrace.load.url import parse
from stackrace.model.errors import InputError


def test_a_url_is_taken_apart() -> None:
    url = parse("http://127.0.0.1:8000/path?x=1&y=a%20b#top")
    assert (url.address, url.host, url.path) == (("127.0.0.1", 8000), "127.0.0.1:8000", "/path?x=1&y=a%20b")


@pytest.mark.parametrize(
    ("text", "address", "host", "path"),
    [
        ("http://127.0.0.1", ("127.0.0.1", 80), "127.0.0.1", "/"),
        ("http://[::1]:81/a", ("::1", 81), "[::1]:81", "/a"),
        ("http://127.0.0.1:5?q", ("127.0.0.1", 5), "127.0.0.1:5", "/?q"),
        ("http://127.0.0.1/ü b", ("127.0.0.1", 80), "127.0.0.1", "/%C3%BC%20b"),
    ],
)
def test_what_is_left_out_has_its_usual_meaning(text: str, address: tuple[str, int], host: str, path: str) -> None:
    url = parse(text)
    assert (url.address, url.host, url.path) == (address, host, path)


def test_localhost_is_dialled_over_ipv4_and_keeps_its_name() -> None:
    url = parse("http://localhost:8000/")
    assert (url.address, url.host) == (("127.0.0.1", 8000), "localhost:8000")


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("", "write it like"),
        ("127.0.0.1:8000", "write it like"),
        ("ftp://127.0.0.1/", "write it like"),
        ("http:///path", "names no host"),
        ("http://[::1/", "write it like"),
        ("http://127.0.0.1:x/", "1 to 65535"),
        ("http://127.0.0.1:0/", "1 to 65535"),
        ("http://127.0.0.1:70000/", "1 to 65535"),
        ("http://me:secret@127.0.0.1/", "Authorization"),
        ("https://127.0.0.1/", "http port"),
        ("http://192.0.2.1/", "--target-is-mine"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_the_way_out(text: str, way_out: str) -> None:
    with pytest.raises(InputError, match=way_out):
        parse(text)


def test_another_machine_may_be_loaded_by_its_owner() -> None:
    assert parse("http://192.0.2.1/", target_is_mine=True).address == ("192.0.2.1", 80)
