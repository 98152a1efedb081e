"""OpenLiteSpeed's configuration, by protocol; Debian has no package of it, so no server checks it here."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers.openlitespeed.server import SERVER
from stackrace.stacks.stack import Protocol, Socket

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    socket = Socket.TCP if protocol == Protocol.AJP else Socket.UNIX
    site = make_site("openlitespeed", upstream=next_hop(protocol, socket))
    files = SERVER.recipe(site).files
    assert_golden(f"openlitespeed-{protocol}.conf", files["conf/httpd_config.conf"] + files["conf/vhconf.conf"])


def test_the_server_a_balancer_and_files_render_as_in_the_golden_files(make_site, next_hop, assert_golden):
    balancer = SERVER.recipe(make_site("openlitespeed", upstream=next_hop("http", instances=2))).files
    files = SERVER.recipe(make_site("openlitespeed", access_log=True)).files
    assert_golden("openlitespeed-server.conf", balancer["conf/httpd_config.conf"])
    assert_golden("openlitespeed-balancer.conf", balancer["conf/vhconf.conf"])
    assert_golden("openlitespeed-files.conf", files["conf/vhconf.conf"])


@pytest.mark.parametrize(("workers", "flag"), [(1, "-d"), (2, "-n")])
def test_it_stays_in_the_foreground_and_in_its_own_root(workers, flag, make_site, next_hop):
    recipe = SERVER.recipe(make_site("openlitespeed", upstream=next_hop("http"), workers=workers))
    assert recipe.command == ("openlitespeed", flag)
    assert recipe.environment["LSWS_HOME"] == "/srv/site"


def test_files_of_any_suffix_have_a_type(make_site):
    files = SERVER.recipe(make_site("openlitespeed")).files
    assert files["conf/mime.properties"].startswith("default = application/octet-stream\n")
    assert "css = text/css" in files["conf/mime.properties"].replace("text/css\n", "text/css ")
