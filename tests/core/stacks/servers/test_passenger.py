"""Passenger within Apache's configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.stacks.servers.conftest import hosted

from stackrace.stacks.servers import RubyRuntime
from stackrace.stacks.servers.apache.server import SERVER as APACHE
from stackrace.stacks.servers.passenger.server import MODULE, SERVER
from stackrace.stacks.stack import Interface

HISTORIC = {
    "max_pool_size": 30,
    "spawn_method": "smart",
    "high_performance": True,
    "pool_idle_time": 0,
    "stat_throttle_rate": 300,
}
"""As in the comparison of 2009."""


def recipe_for(interface, site, app=None):
    app = app or hosted(interface)
    settings = {setting.name: setting.default for setting in SERVER.spec.settings} | HISTORIC
    fragment = SERVER.fragment(replace(site, app=app, settings=settings))
    return APACHE.recipe(replace(site, app=app, inside=fragment))


@pytest.mark.parametrize("interface", sorted(SERVER.spec.hosts))
def test_each_interface_renders_as_in_the_golden_file(interface, make_site, assert_golden):
    recipe = recipe_for(interface, make_site("apache"))
    assert_golden(f"passenger-{interface}.conf", recipe.files["apache.conf"])


@pytest.mark.skipif(not MODULE.exists(), reason="Passenger is not installed")
@pytest.mark.parametrize("interface", sorted(SERVER.spec.hosts))
@pytest.mark.parametrize("mpm", APACHE.spec.setting("mpm").choices)
def test_apache_accepts_it(interface, mpm, tmp_path, make_site, assert_checks):
    site = make_site("apache", directory=tmp_path / "folder", mpm=mpm)
    assert_checks(site, recipe_for(interface, site))


def test_a_public_folder_is_apaches_to_send(make_site):
    runtime = RubyRuntime(ruby=Path("/usr/bin/ruby"), config=Path("/srv/project/config.ru"), public=Path("/srv/p"))
    app = replace(hosted(Interface.RACK), runtime=runtime)
    config = recipe_for(Interface.RACK, make_site("apache"), app).files["apache.conf"]
    assert config.rindex('DocumentRoot "/srv/p"') > config.index('DocumentRoot "/srv/site/htdocs"')
