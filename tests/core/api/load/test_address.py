"""Names with two addresses, and proxies that other clients would take; real listeners on loopback."""

import socket

import pytest

from stackrace.api.load.target import _check_address
from stackrace.base.errors import InputError
from stackrace.measure.engine.url import Url


def url(name, port, dialled="127.0.0.1"):
    return Url(address=(dialled, port), host=f"{name}:{port}", name=name, path="/")


def listening(family, host, port=0):
    held = socket.socket(family)
    if family == socket.AF_INET6:
        held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    held.bind((host, port))
    held.listen()
    return held


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def both(monkeypatch):
    """Localhost has two addresses, as /etc/hosts mostly says, but not everywhere."""
    real = socket.getaddrinfo

    def two(host, port, *rest, **more):
        names = ("::1", "127.0.0.1") if host == "localhost" else (host,)
        return [entry for name in names for entry in real(name, port, *rest, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", two)


def test_an_address_is_an_address():
    with listening(socket.AF_INET, "127.0.0.1") as server:
        assert _check_address(url("127.0.0.1", server.getsockname()[1])) == ()


def test_a_socket_has_no_address():
    assert _check_address(Url(address="/run/app.sock", host="localhost", name="localhost", path="/")) == ()


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_two_listeners_under_one_name_are_told(both):
    with listening(socket.AF_INET, "127.0.0.1") as first:
        port = first.getsockname()[1]
        assert _check_address(url("localhost", port)) == ()
        with listening(socket.AF_INET6, "::1", port):
            (note,) = _check_address(url("localhost", port))
    assert "accepts connections at ::1, too; the load goes to 127.0.0.1" in note


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_a_name_that_is_answered_at_its_other_address_only_is_refused(both):
    with listening(socket.AF_INET6, "::1") as server, pytest.raises(InputError) as refused:
        _check_address(url("localhost", server.getsockname()[1]))
    assert "name it: [::1]" in refused.value.message


def test_a_proxy_that_others_would_take_is_told_without_its_password(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret@10.0.0.1:3128")
    (note,) = _check_address(url("127.0.0.1", 9))
    assert "10.0.0.1:3128 (HTTP_PROXY)" in note
    assert "secret" not in note
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert _check_address(url("127.0.0.1", 9)) == ()
