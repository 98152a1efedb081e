"""The URL of a database; what it hides."""

from __future__ import annotations

import pytest

from stackrace.base.errors import InputError
from stackrace.features.publish.couchdb import Database


def test_a_url_is_taken_apart():
    address = Database.at("https://an%40a:s%3Ae@[::1]:6984/behind/proxy/team%2Fraces", {})
    assert (address.secure, address.host, address.port) == (True, "::1", 6984)
    assert (address.user, address.password) == ("an@a", "s:e")
    assert address.path == "/behind/proxy/team%2Fraces"
    assert str(address) == "https://[::1]:6984/behind/proxy/team%2Fraces"


def test_credentials_may_come_from_the_environment_and_the_url_comes_first():
    environment = {"STACKRACE_COUCHDB_USER": "ana", "STACKRACE_COUCHDB_PASSWORD": "secret"}
    address = Database.at("http://couch.example/races/", environment)
    assert (address.user, address.password, address.port) == ("ana", "secret", 80)
    assert Database.at("http://eva:other@couch.example/races", environment).password == "other"


def test_a_password_is_never_shown():
    address = Database.at("http://ana:secret@couch.example/races", {})
    assert "secret" not in f"{address} {address!r}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "races",
        "ftp://ana:secret@host/races",
        "http://ana:secret@host",
        "http://ana:secret@host/",
        "http://ana:secret@host/Races",
        "http://ana:secret@host/_users",
        "http://ana:secret@host:x/races",
        "http://ana:secret@[host/races",
        "http://ana:secret@host/races?rev=1",
        "http://ana:secret@host/ra ces",
        "http://ana:secret@host/races\r\nX: y",
    ],
)
def test_other_urls_are_refused_with_an_example_and_without_the_password(url):
    with pytest.raises(InputError, match=r"https://user:password@couch\.example") as caught:
        Database.at(url, {})
    assert "secret" not in str(caught.value)
