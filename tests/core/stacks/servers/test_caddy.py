"""Caddy's configuration, by protocol."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers import Endpoint
from stackrace.stacks.servers.caddy.server import SERVER
from stackrace.stacks.stack import Protocol, Socket

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("caddy", upstream=next_hop(protocol, instances=2))
    assert_golden(f"caddy-{protocol}.caddyfile", SERVER.recipe(site).files["Caddyfile"])


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    assert_golden("caddy-files.caddyfile", SERVER.recipe(make_site("caddy")).files["Caddyfile"])


@pytest.mark.parametrize("chosen", [{}, {"upstream_keep_alive": False, "access_log": True}])
@pytest.mark.parametrize("socket", list(Socket))
@pytest.mark.parametrize("protocol", [*FORWARDS, ""])
def test_caddy_accepts_it(protocol, socket, chosen, tmp_path, make_site, next_hop, assert_checks):
    listen = Endpoint(protocol=Protocol.HTTP, socket=socket, path=tmp_path / "front", port=18080)
    upstream = next_hop(protocol, socket) if protocol else ()
    site = make_site("caddy", directory=tmp_path / "folder", listen=listen, upstream=upstream, **chosen)
    assert_checks(site, SERVER.recipe(site))


def test_its_workers_are_the_threads_that_run_go_code(make_site, next_hop):
    recipe = SERVER.recipe(make_site("caddy", upstream=next_hop("http"), workers=3))
    assert recipe.environment["GOMAXPROCS"] == "3"
