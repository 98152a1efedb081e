"""HAProxy's configuration."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers import Endpoint
from stackrace.stacks.servers.haproxy.server import SERVER
from stackrace.stacks.stack import Protocol, Socket


@pytest.mark.parametrize("socket", list(Socket))
def test_each_socket_renders_as_in_the_golden_file(socket, make_site, next_hop, assert_golden):
    site = make_site("haproxy", upstream=next_hop(Protocol.HTTP, socket, instances=2))
    assert_golden(f"haproxy-{socket}.cfg", SERVER.recipe(site).files["haproxy.cfg"])


@pytest.mark.parametrize("chosen", [{}, {"upstream_keep_alive": False, "access_log": True, "workers": 64}])
@pytest.mark.parametrize("socket", list(Socket))
def test_haproxy_accepts_it(socket, chosen, tmp_path, make_site, next_hop, assert_checks):
    listen = Endpoint(protocol=Protocol.HTTP, socket=socket, path=tmp_path / "front", port=18080)
    upstream = next_hop(Protocol.HTTP, socket, instances=2)
    site = make_site("haproxy", directory=tmp_path / "folder", listen=listen, upstream=upstream, **chosen)
    assert_checks(site, SERVER.recipe(site))
