"""nginx's configuration, by protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.stacks.servers import Endpoint
from stackrace.stacks.servers.nginx.server import SERVER
from stackrace.stacks.stack import Protocol, Socket

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("nginx", upstream=next_hop(protocol, instances=2))
    assert_golden(f"nginx-{protocol}.conf", SERVER.recipe(site).files["nginx.conf"])


@pytest.mark.parametrize("socket", list(Socket))
@pytest.mark.parametrize("protocol", FORWARDS)
def test_nginx_accepts_it(protocol, socket, tmp_path, make_site, next_hop, assert_checks):
    site = make_site("nginx", directory=tmp_path / "folder", upstream=next_hop(protocol, socket), access_log=True)
    assert_checks(site, SERVER.recipe(site))


def test_only_http_upstreams_keep_connections_unless_told_otherwise(make_site, next_hop):
    kept, told, closed = (
        SERVER.recipe(make_site("nginx", upstream=next_hop(protocol), upstream_keep_alive=keep)).files["nginx.conf"]
        for protocol, keep in ((Protocol.HTTP, True), (Protocol.HTTP, False), (Protocol.FASTCGI, True))
    )
    assert "keepalive 64;" in kept
    assert 'proxy_set_header Connection "close";' in told
    assert "keepalive 64;" not in told + closed


@pytest.mark.parametrize("socket", list(Socket))
def test_nginx_accepts_to_stand_behind_another(socket, tmp_path, make_site, next_hop, assert_checks):
    listen = Endpoint(protocol=Protocol.HTTP, socket=socket, path=tmp_path / "front", port=0)
    if socket is Socket.TCP:
        listen = Endpoint(protocol=Protocol.HTTP, socket=socket, port=18080)
    site = make_site("nginx", directory=tmp_path / "folder", listen=listen, upstream=next_hop("http"))
    assert_checks(site, SERVER.recipe(site))


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    assert_golden("nginx-files.conf", SERVER.recipe(make_site("nginx")).files["nginx.conf"])


def test_nginx_accepts_to_serve_files(tmp_path, make_site, assert_checks):
    site = make_site("nginx", directory=tmp_path / "folder")
    (tmp_path / "public").mkdir()
    site = replace(site, app=replace(site.app, root=tmp_path / "public"))
    assert_checks(site, SERVER.recipe(site))


TURNED = {
    "worker_connections": 512,
    "keep_alive": 5,
    "upstream_connections": 8,
    "buffering": False,
    "sendfile": False,
    "tcp_nopush": False,
    "open_file_cache": 100,
    "gzip": True,
}


@pytest.mark.parametrize("protocol", FORWARDS)
def test_nginx_accepts_all_that_can_be_turned(protocol, tmp_path, make_site, next_hop, assert_checks):
    site = make_site("nginx", directory=tmp_path / "folder", upstream=next_hop(protocol), **TURNED)
    assert_checks(site, SERVER.recipe(site))


def test_all_that_can_be_turned_renders_as_in_the_golden_file(make_site, next_hop, assert_golden):
    site = make_site("nginx", upstream=next_hop("http"), **TURNED)
    assert_golden("nginx-turned.conf", SERVER.recipe(site).files["nginx.conf"])
