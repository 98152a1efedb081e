"""Apache's configuration, by protocol and by multi-processing module."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.stacks.servers.apache.server import SERVER
from stackrace.stacks.stack import Protocol, Socket

FORWARDS = sorted(SERVER.spec.forwards)
LINKS = [(protocol, socket) for protocol in FORWARDS for socket in SERVER.spec.forwards[protocol]]
MPMS = SERVER.spec.setting("mpm").choices


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("apache", upstream=next_hop(protocol, Socket.TCP))
    assert_golden(f"apache-{protocol}.conf", SERVER.recipe(site).files["apache.conf"])


def test_several_instances_render_as_a_balancer(make_site, next_hop, assert_golden):
    site = make_site("apache", upstream=next_hop(Protocol.HTTP, instances=2), mpm="prefork")
    assert_golden("apache-balancer.conf", SERVER.recipe(site).files["apache.conf"])


@pytest.mark.parametrize("instances", [1, 3])
@pytest.mark.parametrize(("protocol", "socket"), LINKS)
def test_apache_accepts_it(protocol, socket, instances, tmp_path, make_site, next_hop, assert_checks):
    site = make_site("apache", directory=tmp_path / "folder", upstream=next_hop(protocol, socket, instances))
    assert_checks(site, SERVER.recipe(site))


@pytest.mark.parametrize("mpm", MPMS)
@pytest.mark.parametrize("max_workers", [1, 512, 4096])
def test_apache_accepts_every_pool(mpm, max_workers, tmp_path, make_site, next_hop, assert_checks):
    site = make_site(
        "apache",
        directory=tmp_path / "folder",
        upstream=next_hop("http"),
        mpm=mpm,
        max_workers=max_workers,
        access_log=True,
    )
    assert_checks(site, SERVER.recipe(site))


def test_threads_are_spread_evenly_and_never_too_few(make_site, next_hop):
    site = make_site("apache", upstream=next_hop("http"), processes=3, max_workers=512)
    config = SERVER.recipe(site).files["apache.conf"]
    assert "ThreadsPerChild 171\n" in config
    assert "MaxRequestWorkers 513\n" in config


def test_only_http_servers_keep_their_connections_unless_told_otherwise(make_site, next_hop):
    kept, told, apart = (
        SERVER.recipe(make_site("apache", upstream=next_hop(protocol, Socket.TCP), upstream_keep_alive=keep)).files[
            "apache.conf"
        ]
        for protocol, keep in (("http", True), ("http", False), ("ajp", True))
    )
    assert "enablereuse=on" in kept
    assert "disablereuse=on" in told
    assert "disablereuse=on" in apart


def test_a_historic_pool_is_written_with_its_own_numbers(make_site, next_hop):
    site = make_site(
        "apache",
        upstream=next_hop("http"),
        mpm="prefork",
        processes=8,
        min_spare=5,
        max_spare=20,
        max_workers=256,
        max_connections_per_child=4000,
        keep_alive=False,
    )
    config = SERVER.recipe(site).files["apache.conf"]
    for line in (
        "StartServers 8",
        "ServerLimit 256",
        "MaxRequestWorkers 256",
        "MinSpareServers 5",
        "MaxSpareServers 20",
        "MaxConnectionsPerChild 4000",
        "KeepAlive Off",
    ):
        assert f"{line}\n" in config


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    assert_golden("apache-files.conf", SERVER.recipe(make_site("apache")).files["apache.conf"])


def test_apache_accepts_to_serve_files(tmp_path, make_site, assert_checks):
    site = make_site("apache", directory=tmp_path / "folder")
    (tmp_path / "public").mkdir()
    site = replace(site, app=replace(site.app, root=tmp_path / "public"))
    assert_checks(site, SERVER.recipe(site))
