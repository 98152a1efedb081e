"""mod_wsgi and Passenger within Apache's configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.stacks.servers.conftest import hosted

from stackrace.stacks.servers import RubyRuntime, catalogue
from stackrace.stacks.setting import Interface

APACHE = catalogue().server("apache")
MPMS = APACHE.spec.setting("mpm").choices
HISTORIC = {
    "max_pool_size": 30,
    "spawn_method": "smart",
    "high_performance": True,
    "pool_idle_time": 0,
    "stat_throttle_rate": 300,
}
"""As in the comparison of 2009."""
CASES = [
    *(("mod_wsgi", mode, {"mode": mode}, Interface.WSGI) for mode in ("daemon", "embedded")),
    *(("passenger", interface, HISTORIC, interface) for interface in (Interface.RACK, Interface.WSGI)),
]
"""A guest, how its golden file ends, its settings, and what it hosts."""


def recipe_for(guest, chosen, app, site):
    entry = catalogue().guest(guest)
    settings = {setting.name: setting.default for setting in entry.spec.settings} | chosen
    fragment = entry.fragment(replace(site, app=app, settings=settings))
    return APACHE.recipe(replace(site, app=app, inside=fragment))


@pytest.mark.parametrize(("guest", "ending", "chosen", "interface"), CASES)
def test_it_renders_as_in_the_golden_file(guest, ending, chosen, interface, make_site, assert_golden):
    recipe = recipe_for(guest, chosen, hosted(interface), make_site("apache"))
    assert_golden(f"{guest}-{ending}.conf", recipe.files["apache.conf"])


@pytest.mark.parametrize("mpm", MPMS)
@pytest.mark.parametrize(("guest", "ending", "chosen", "interface"), CASES)
def test_apache_accepts_it(guest, ending, chosen, interface, mpm, tmp_path, make_site, assert_checks):
    if not all(file.exists() for file in catalogue().guest(guest).needs.files):
        pytest.skip(f"{guest} is not installed")
    site = make_site("apache", directory=tmp_path / "folder", mpm=mpm)
    assert_checks(site, recipe_for(guest, chosen, hosted(interface), site))


def test_a_public_folder_is_apaches_to_send(make_site):
    runtime = RubyRuntime(ruby=Path("/usr/bin/ruby"), config=Path("/srv/project/config.ru"), public=Path("/srv/p"))
    app = replace(hosted(Interface.RACK), runtime=runtime)
    config = recipe_for("passenger", HISTORIC, app, make_site("apache")).files["apache.conf"]
    assert config.rindex('DocumentRoot "/srv/p"') > config.index('DocumentRoot "/srv/site/htdocs"')
