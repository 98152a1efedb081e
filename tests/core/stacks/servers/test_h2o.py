"""H2O's configuration, by protocol."""

from __future__ import annotations

import pytest

from stackrace.base.errors import StackError
from stackrace.stacks.servers import Endpoint, catalogue
from stackrace.stacks.servers.h2o.server import SERVER
from stackrace.stacks.stack import Interface, Protocol, Socket
from stackrace.stacks.stack_path import parse_stack

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("h2o", upstream=next_hop(protocol))
    assert_golden(f"h2o-{protocol}.yaml", SERVER.recipe(site).files["h2o.yaml"])


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    assert_golden("h2o-files.yaml", SERVER.recipe(make_site("h2o")).files["h2o.yaml"])


@pytest.mark.parametrize("chosen", [{}, {"upstream_keep_alive": False, "access_log": True}])
@pytest.mark.parametrize("socket", list(Socket))
@pytest.mark.parametrize("protocol", FORWARDS)
def test_h2o_accepts_it(protocol, socket, chosen, tmp_path, make_site, next_hop, assert_checks):
    listen = Endpoint(protocol=Protocol.HTTP, socket=socket, path=tmp_path / "front", port=18080)
    site = make_site(
        "h2o",
        directory=tmp_path / "folder",
        listen=listen,
        upstream=next_hop(protocol, socket),
        **chosen,
    )
    assert_checks(site, SERVER.recipe(site))


def test_a_stack_with_several_instances_behind_it_is_not_legal():
    with pytest.raises(StackError, match="one instance only"):
        parse_stack("h2o/http/gunicorn:instances=2", catalogue().specs, frozenset({Interface.WSGI}))
