"""Configurations of servers that are deployed for good: accepted by the server's own checker."""

from __future__ import annotations

from dataclasses import replace
from signal import SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGWINCH

import pytest

from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.site import Production

FRONTS = {
    "nginx": ("http", "uwsgi", "fastcgi", "scgi"),
    "apache": ("http", "fastcgi"),
    "lighttpd": ("http", "fastcgi"),
    "haproxy": ("http",),
    "caddy": ("http", "fastcgi"),
    "h2o": ("http",),
}
STOPS = {"nginx": SIGQUIT, "apache": SIGWINCH, "lighttpd": SIGINT, "haproxy": SIGUSR1, "caddy": SIGTERM}
CASES = [(name, protocol) for name, protocols in FRONTS.items() for protocol in protocols]


@pytest.fixture
def deployed(tmp_path, make_site, next_hop):
    """Return a function that makes the site of a front end which serves people."""

    def make(name, protocol, proxies=("127.0.0.1", "10.0.0.0")):
        folders = [tmp_path / kind for kind in ("run", "logs", "tmp")]
        for folder in (*folders, tmp_path / "site", tmp_path / "tmp" / "htdocs"):
            folder.mkdir(parents=True, exist_ok=True)
        run, logs, temporary = folders
        production = Production(run=run, logs=logs, temporary=temporary, proxies=proxies)
        site = make_site(name, directory=tmp_path / "site", upstream=next_hop(protocol))
        return replace(site, production=production)

    return make


@pytest.mark.parametrize(("name", "protocol"), CASES, ids=lambda part: str(part))
def test_its_own_checker_accepts_what_is_deployed(name, protocol, deployed, assert_checks):
    site = deployed(name, protocol)
    assert_checks(site, catalogue().server(name).recipe(site))


@pytest.mark.parametrize("name", STOPS)
def test_a_front_end_that_serves_people_lets_requests_end(name, deployed):
    site = deployed(name, "http")
    server = catalogue().server(name)
    assert server.recipe(site).stop is STOPS[name]
    assert server.recipe(replace(site, production=None)).stop is SIGTERM


@pytest.mark.parametrize("name", ["nginx", "apache", "haproxy"])
def test_a_front_end_that_knows_no_proxy_believes_nobody(name, deployed, assert_checks):
    site = deployed(name, "http", proxies=())
    recipe = catalogue().server(name).recipe(site)
    assert_checks(site, recipe)
    assert "127.0.0.1 1;" not in "".join(recipe.files.values())


def test_a_server_behind_another_believes_it_and_one_alone_only_proxies():
    folders = {"run": "r", "logs": "l", "temporary": "t"}
    assert Production(**folders, proxies=("10.0.0.7", "::1")).trusted_proxies == "10.0.0.7,::1"
    assert Production(**folders, is_behind=True).trusted_proxies == "*"
