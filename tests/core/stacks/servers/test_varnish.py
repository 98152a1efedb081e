"""Varnish's configuration, and what makes it a declared cache."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest

from stackrace.stacks.servers.varnish.server import SERVER
from stackrace.stacks.stack import Protocol, Socket


@pytest.mark.parametrize("cache", [False, True])
def test_passing_and_keeping_render_as_in_the_golden_files(cache, make_site, next_hop, assert_golden):
    site = make_site("varnish", upstream=next_hop(Protocol.HTTP, instances=2), cache=cache)
    name = "varnish-keeping.vcl" if cache else "varnish-passing.vcl"
    assert_golden(name, SERVER.recipe(site).files["default.vcl"])


def test_it_listens_where_the_site_says(make_site, next_hop):
    upstream = next_hop(Protocol.HTTP)
    tcp = SERVER.recipe(make_site("varnish", upstream=upstream)).command
    unix = SERVER.recipe(make_site("varnish", upstream=upstream, listen=next_hop("http")[0])).command
    assert "127.0.0.1:8000,HTTP" in tcp
    assert "/srv/next0/socket,HTTP,mode=666" in unix


@pytest.mark.parametrize("chosen", [{}, {"upstream_keep_alive": False, "cache": True}])
@pytest.mark.parametrize("kind", list(Socket))
def test_varnish_accepts_it(kind, chosen, tmp_path, make_site, next_hop, assert_checks):
    upstream = next_hop(Protocol.HTTP, kind, instances=2)
    with socket.socket(socket.AF_UNIX) as next_socket:
        if kind is Socket.UNIX:
            # it warns of a backend's socket that is not there
            next_socket.bind(str(tmp_path / "next"))
            upstream = (replace(upstream[0], path=tmp_path / "next"),)
        site = make_site("varnish", directory=tmp_path / "folder", upstream=upstream, **chosen)
        assert_checks(site, SERVER.recipe(site))
