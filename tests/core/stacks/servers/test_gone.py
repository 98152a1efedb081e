"""What no longer exists is answered with what took its place."""

from __future__ import annotations

import re

import pytest

from stackrace.base.errors import InputError, StackError
from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.catalogue import GONE
from stackrace.stacks.stack import Interface
from stackrace.stacks.stack_path import parse_stack

ANY = frozenset(Interface)


def named(gone):
    return gone.name


@pytest.mark.parametrize("gone", GONE, ids=named)
def test_a_stack_that_names_it_is_told_of_its_kin(gone):
    with pytest.raises(StackError) as raised:
        parse_stack(gone.name, catalogue().specs, ANY)
    assert all(kin in raised.value.message for kin in gone.kin)
    assert "is gone" in raised.value.message


@pytest.mark.parametrize(
    ("path", "kin"),
    [
        ("nginx:workers=4+mod_wsgi:threads=2", "unit"),
        ("caddy/http/nginx+mod_wsgi", "unit"),
        ("nginx/http/mongrel", "puma"),
        ("apache+django-modpython", r"apache\+mod_python"),
        ("litespeed/fastcgi/flup", "openlitespeed"),
        ("apache/ajp/ajp-wsgi", "apache/ajp/flup"),
    ],
)
def test_it_is_known_anywhere_in_a_path(path, kin):
    with pytest.raises(StackError, match=kin):
        parse_stack(path, catalogue().specs, ANY)


@pytest.mark.parametrize("unknown", ["foo", "mongrels"])
def test_it_is_not_suggested_for_another_name(unknown):
    with pytest.raises(StackError, match=f"there is no server '{unknown}'") as raised:
        parse_stack(unknown, catalogue().specs, ANY)
    suggested = set(re.findall(r"[\w+-]+", raised.value.message))
    assert "nginx" in suggested
    assert suggested.isdisjoint(gone.name for gone in GONE)


@pytest.mark.parametrize("gone", GONE, ids=named)
def test_it_is_no_entry_of_the_catalogue_and_kept_in_order(gone):
    assert gone.name not in catalogue().entries
    assert gone.kin
    assert [gone.name for gone in GONE] == sorted(gone.name for gone in GONE)


def test_the_command_line_knows_it_by_name():
    from stackrace.cli.stacks import _called

    with pytest.raises(InputError, match="puma"):
        _called(["mongrel"], catalogue())
