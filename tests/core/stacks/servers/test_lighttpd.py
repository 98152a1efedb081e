"""lighttpd's configuration, by protocol."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrace.stacks.servers.lighttpd.server import SERVER
from stackrace.stacks.stack import Socket

FORWARDS = sorted(SERVER.spec.forwards)


@pytest.mark.parametrize("protocol", FORWARDS)
def test_each_protocol_renders_as_in_the_golden_file(protocol, make_site, next_hop, assert_golden):
    site = make_site("lighttpd", upstream=next_hop(protocol, instances=2))
    assert_golden(f"lighttpd-{protocol}.conf", SERVER.recipe(site).files["lighttpd.conf"])


@pytest.mark.parametrize("socket", list(Socket))
@pytest.mark.parametrize("protocol", FORWARDS)
def test_lighttpd_accepts_it(protocol, socket, tmp_path, make_site, next_hop, assert_checks):
    site = make_site(
        "lighttpd", directory=tmp_path / "folder", upstream=next_hop(protocol, socket), access_log=True
    )
    assert_checks(site, SERVER.recipe(site))


def test_one_worker_is_written_as_none(make_site, next_hop):
    site = make_site("lighttpd", upstream=next_hop("scgi"), workers=1)
    assert "server.max-worker = 0\n" in SERVER.recipe(site).files["lighttpd.conf"]


def test_files_render_as_in_the_golden_file(make_site, assert_golden):
    assert_golden("lighttpd-files.conf", SERVER.recipe(make_site("lighttpd")).files["lighttpd.conf"])


def test_lighttpd_accepts_to_serve_files(tmp_path, make_site, assert_checks):
    site = make_site("lighttpd", directory=tmp_path / "folder")
    (tmp_path / "public").mkdir()
    site = replace(site, app=replace(site.app, root=tmp_path / "public"))
    assert_checks(site, SERVER.recipe(site))
