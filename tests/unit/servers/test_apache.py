"""Apache's configuration, by protocol and by multi-processing module."""

from __future__ import annotations

import pytest

from stackrace.model.stack import Protocol, Socket
from stackrace.servers.apache.server import SERVER

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
    site = make_site("apache", directory=tmp_path / "a folder", upstream=next_hop(protocol, socket, instances))
    assert_checks(site, SERVER.recipe(site))


@pytest.mark.parametrize("mpm", MPMS)
@pytest.mark.parametrize("max_workers", [1, 512, 4096])
def test_apache_accepts_every_pool(mpm, max_workers, tmp_path, make_site, next_hop, assert_checks):
    site = make_site(
        "apache",
        directory=tmp_path / "a folder",
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


def test_only_http_servers_keep_their_connections(make_site, next_hop):
    kept, apart = (
        SERVER.recipe(make_site("apache", upstream=next_hop(protocol, Socket.TCP))).files["apache.conf"]
        for protocol in ("http", "ajp")
    )
    assert "enablereuse=on" in kept
    assert "disablereuse=on" in apart
