"""The configurations of servers that host the app: as in the golden files, and what is particular to each."""

from __future__ import annotations

import json
import shlex
import signal
from dataclasses import replace

import pytest

from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Protocol, Socket

PUMA, UNIT, UWSGI = (catalogue().server(name) for name in ("puma", "unit", "uwsgi"))


@pytest.mark.parametrize("socket", PUMA.spec.sockets)
@pytest.mark.parametrize("workers", [0, 2])
def test_each_way_to_listen_renders_as_in_the_golden_file(socket, workers, make_site, next_hop, assert_golden):
    site = make_site("puma", listen=next_hop(Protocol.HTTP, Socket(socket))[0], workers=workers)
    assert_golden(f"puma-{socket}-{workers}.rb", PUMA.recipe(site).files["puma.rb"])


def test_the_apps_own_ruby_runs_puma_with_its_rackup_file(make_site):
    command = shlex.join(PUMA.recipe(make_site("puma")).command)
    assert command == "/usr/bin/ruby -S puma --config /srv/site/puma.rb /srv/project/config.ru"


@pytest.mark.parametrize("interface", [Interface.WSGI, Interface.ASGI, Interface.FILES])
def test_each_interface_renders_as_in_the_golden_file(interface, make_site, assert_golden):
    site = make_site("unit", threads=4)
    recipe = UNIT.recipe(replace(site, app=replace(site.app, interface=interface)))
    assert_golden(f"unit-{interface}.json", recipe.files["state/conf.json"])
    if interface is not Interface.FILES:
        # it would send the app's bodies to HEAD
        application = json.loads(recipe.files["state/conf.json"])["applications"]["app"]
        assert f"{application['module']}.py" in recipe.files
        assert application["path"][0] == str(site.directory)


def test_forwarding_renders_as_in_the_golden_file(make_site, next_hop, assert_golden):
    upstream = next_hop(Protocol.HTTP, Socket.TCP, instances=2)
    site = make_site("unit", upstream=upstream, listen=next_hop("http")[0], access_log=True)
    assert_golden("unit-http.json", UNIT.recipe(site).files["state/conf.json"])


def test_quit_ends_unit_since_term_may_leave_processes(make_site):
    assert UNIT.recipe(make_site("unit")).stop is signal.SIGQUIT


@pytest.mark.parametrize(
    ("golden", "protocol", "chosen"),
    [
        *((each, each, {"threads": 2, "access_log": True}) for each in sorted(UWSGI.spec.listens)),
        ("cheaper", "uwsgi", {"processes": 25, "cheaper": 2}),
        ("switches", "", {
            **{"max_requests": 500, "harakiri": 60, "lazy_apps": True, "static": True},
        }),
    ],
)  # fmt: skip
def test_what_uwsgi_is_told_renders_as_in_the_golden_file(
    golden, protocol, chosen, make_site, next_hop, assert_golden
):
    site = make_site("uwsgi", listen=next_hop(protocol)[0] if protocol else None, **chosen)
    assert_golden(f"uwsgi-{golden}.ini", UWSGI.recipe(site).files["uwsgi.ini"])


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
    assert ("http-keepalive" in UWSGI.recipe(site).files["uwsgi.ini"]) is router


def test_no_router_stands_before_another_protocol(make_site, next_hop):
    site = make_site("uwsgi", listen=next_hop(Protocol.UWSGI, Socket.TCP)[0], http="router")
    assert "http" not in UWSGI.recipe(site).files["uwsgi.ini"].replace("https", "")
