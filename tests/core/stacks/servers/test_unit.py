"""nginx Unit's configuration, by what it does; Debian has no package of it, so no server checks it here."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

from stackrace.stacks.servers.unit.server import SERVER
from stackrace.stacks.stack import Interface, Protocol, Socket


@pytest.mark.parametrize("interface", [Interface.WSGI, Interface.ASGI, Interface.FILES])
def test_each_interface_renders_as_in_the_golden_file(interface, make_site, assert_golden):
    site = make_site("unit", threads=4)
    site = replace(site, app=replace(site.app, interface=interface))
    assert_golden(f"unit-{interface}.json", SERVER.recipe(site).files["state/conf.json"])


def test_forwarding_renders_as_in_the_golden_file(make_site, next_hop, assert_golden):
    upstream = next_hop(Protocol.HTTP, Socket.TCP, instances=2)
    site = make_site("unit", upstream=upstream, listen=next_hop("http")[0], access_log=True)
    assert_golden("unit-http.json", SERVER.recipe(site).files["state/conf.json"])


def test_quit_ends_it_since_term_may_leave_processes(make_site):
    assert SERVER.recipe(make_site("unit")).stop is signal.SIGQUIT


@pytest.mark.parametrize("interface", [Interface.WSGI, Interface.ASGI])
def test_an_app_is_hosted_without_its_bodies_for_head(interface, make_site):
    site = make_site("unit")
    recipe = SERVER.recipe(replace(site, app=replace(site.app, interface=interface)))
    application = json.loads(recipe.files["state/conf.json"])["applications"]["app"]
    assert f"{application['module']}.py" in recipe.files
    assert application["path"][0] == str(site.directory)
