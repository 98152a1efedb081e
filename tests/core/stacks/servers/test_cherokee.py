"""Cherokee's configuration, by protocol; Debian has no package of it, so no server checks it here."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.cherokee.server import SERVER
from stackrace.stacks.stack import Interface, Socket
from stackrace.stacks.stack_path import parse_stack

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    socket = SERVER.spec.forwards[protocol][0]
    site = make_site("cherokee", upstream=next_hop(protocol, socket, instances=2))
    assert_golden(f"cherokee-{protocol}.conf", SERVER.recipe(site).files["cherokee.conf"])


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    site = make_site("cherokee", access_log=True)
    assert_golden("cherokee-files.conf", SERVER.recipe(site).files["cherokee.conf"])


def test_the_worker_itself_is_started(make_site, next_hop):
    assert SERVER.recipe(make_site("cherokee", upstream=next_hop("http"))).command[0] == "cherokee-worker"


def test_its_proxy_is_given_a_host_and_a_port():
    stack = parse_stack("cherokee/http/gunicorn", catalogue().specs, frozenset({Interface.WSGI}))
    assert stack.hops[-1].settings["socket"] == Socket.TCP


def test_its_checker_says_with_2_that_all_is_well(make_site):
    assert SERVER.recipe(make_site("cherokee")).check_code == 2


def test_files_have_types_and_folders_an_index(make_site):
    config = SERVER.recipe(make_site("cherokee")).files["cherokee.conf"]
    assert "mime!text/css!extensions = css" in config
    assert "mime!image/jpeg!extensions = jpg,jpeg" in config
    assert "handler = file" not in config


@pytest.mark.parametrize("protocol", FORWARDS)
def test_cherokee_accepts_it(protocol, tmp_path, make_site, next_hop, assert_checks):
    site = make_site("cherokee", directory=tmp_path, upstream=next_hop(protocol, SERVER.spec.forwards[protocol][0]))
    assert_checks(site, SERVER.recipe(site))
