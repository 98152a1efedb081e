"""Puma's configuration and command."""

from __future__ import annotations

import shlex

import pytest

from stackrace.stacks.servers.puma.server import SERVER
from stackrace.stacks.stack import Protocol, Socket


@pytest.mark.parametrize("socket", SERVER.spec.sockets)
@pytest.mark.parametrize("workers", [0, 2])
def test_each_way_to_listen_renders_as_in_the_golden_file(socket, workers, make_site, next_hop, assert_golden):
    site = make_site("puma", listen=next_hop(Protocol.HTTP, Socket(socket))[0], workers=workers)
    assert_golden(f"puma-{socket}-{workers}.rb", SERVER.recipe(site).files["puma.rb"])


def test_the_apps_own_ruby_runs_it_with_its_rackup_file(make_site):
    command = shlex.join(SERVER.recipe(make_site("puma")).command)
    assert command == "/usr/bin/ruby -S puma --config /srv/site/puma.rb /srv/project/config.ru"
