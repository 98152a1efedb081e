"""uWSGI's configuration, by protocol."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers.uwsgi.server import SERVER
from stackrace.stacks.stack import Protocol, Socket


@pytest.mark.parametrize("protocol", sorted(SERVER.spec.listens))
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("uwsgi", listen=next_hop(protocol)[0], threads=2, access_log=True)
    assert_golden(f"uwsgi-{protocol}.ini", SERVER.recipe(site).files["uwsgi.ini"])


def test_a_pool_that_grows_and_shrinks_renders_as_in_the_golden_file(make_site, next_hop, assert_golden):
    site = make_site("uwsgi", listen=next_hop("uwsgi")[0], processes=25, cheaper=2, cheaper_step=4)
    assert_golden("uwsgi-cheaper.ini", SERVER.recipe(site).files["uwsgi.ini"])


@pytest.mark.parametrize(
    ("http", "socket", "router"),
    [
        ("auto", Socket.TCP, True),
        ("auto", Socket.UNIX, False),
        ("socket", Socket.TCP, False),
        ("router", Socket.UNIX, True),
    ],
)
def test_the_router_is_used_when_asked_or_towards_clients(http, socket, router, make_site, next_hop):
    site = make_site("uwsgi", listen=next_hop(Protocol.HTTP, socket)[0], http=http)
    assert ("http-keepalive" in SERVER.recipe(site).files["uwsgi.ini"]) is router


def test_no_router_stands_before_another_protocol(make_site, next_hop):
    site = make_site("uwsgi", listen=next_hop(Protocol.UWSGI, Socket.TCP)[0], http="router")
    assert "http" not in SERVER.recipe(site).files["uwsgi.ini"].replace("https", "")


def test_its_other_switches_render_as_in_the_golden_file(make_site, assert_golden):
    numbers = {"offload_threads": 2, "max_requests": 500, "max_requests_delta": 50, "harakiri": 60}
    switches = dict.fromkeys(("lazy_apps", "single_interpreter", "thunder_lock", "static"), True)
    site = make_site("uwsgi", **numbers, **switches)
    assert_golden("uwsgi-switches.ini", SERVER.recipe(site).files["uwsgi.ini"])
