"""Addresses of the command line: what cannot be listened at or trusted is refused before anything is started."""

import pytest

from stackrace.base.errors import InputError
from stackrace.features.export.addresses import known_proxies, listened_at


def test_an_address_and_a_port_are_taken():
    assert listened_at("0.0.0.0:80") == ("0.0.0.0", 80)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[::]:8000", "IPv4 only: give 0.0.0.0:8000"),
        (":::8000", "IPv4 only"),
        ("localhost:8000", "such as 127.0.0.1:8000"),
        ("shop.example:80", "such as 0.0.0.0:80"),
        ("8000", "ADDRESS:PORT"),
        ("0.0.0.0:70000", "ADDRESS:PORT"),
    ],
)
def test_what_not_every_server_can_listen_at_is_refused(text, said):
    with pytest.raises(InputError, match=said.replace("[", "\\[")):
        listened_at(text)


def test_addresses_and_networks_are_proxies():
    assert known_proxies(["10.0.0.7", "10.1.0.0/16", "::1", "10.0.0.7/32"]) == ("10.0.0.7", "10.1.0.0/16", "::1")


@pytest.mark.parametrize("text", ["balancer", "10.0.0.7/8", "*", "10.0.0.7 1; default", "0.0.0.0/0"])
def test_what_is_no_proxys_address_is_refused(text):
    with pytest.raises(InputError, match="--trusted-proxy"):
        known_proxies([text])
