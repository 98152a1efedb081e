"""Cherokee's configuration, by protocol; Debian has no package of it, so no server checks it here."""

from __future__ import annotations

import pytest

from stackrace.servers.cherokee.server import SERVER

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("cherokee", upstream=next_hop(protocol, instances=2))
    assert_golden(f"cherokee-{protocol}.conf", SERVER.recipe(site).files["cherokee.conf"])


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    site = make_site("cherokee", access_log=True)
    assert_golden("cherokee-files.conf", SERVER.recipe(site).files["cherokee.conf"])


def test_the_worker_itself_is_started(make_site, next_hop):
    assert SERVER.recipe(make_site("cherokee", upstream=next_hop("http"))).command[0] == "cherokee-worker"
