"""mod_wsgi within Apache's configuration."""

from __future__ import annotations

import pytest

from stackrace.stacks.servers.apache.server import SERVER as APACHE
from stackrace.stacks.servers.mod_wsgi.server import MODULE, SERVER

MODES = SERVER.spec.setting("mode").choices


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_renders_as_in_the_golden_file(mode, make_site, assert_golden):
    site = make_site("apache", guest="mod_wsgi", guest_settings={"mode": mode})
    assert_golden(f"mod_wsgi-{mode}.conf", APACHE.recipe(site).files["apache.conf"])


@pytest.mark.skipif(not MODULE.exists(), reason="mod_wsgi is not installed")
@pytest.mark.parametrize("mpm", APACHE.spec.setting("mpm").choices)
@pytest.mark.parametrize("mode", MODES)
def test_apache_accepts_it(mode, mpm, tmp_path, make_site, assert_checks):
    site = make_site(
        "apache", directory=tmp_path / "folder", guest="mod_wsgi", guest_settings={"mode": mode}, mpm=mpm
    )
    assert_checks(site, APACHE.recipe(site))
