"""The site over a store in PostgreSQL: every page, names, and the connections of pages that watch a race."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack
from dataclasses import replace
from html import unescape

import pytest
from tests.factories import make_race
from tests.features.web.conftest import RACES
from tests.features.web.serving import listed, served, user_agent, watched
from tests.frozen import product
from tests.integration.postgresql import find, running_server

from stackrace.base import ids
from stackrace.store import open_store
from stackrace.store.race_lock import race_lock


@pytest.fixture(scope="module")
def store_url():
    """The URL of a store with a race of each kind, on a server of the test's own."""
    if find("initdb") is None or find("postgres") is None:
        pytest.skip("PostgreSQL's server is not installed: apt install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, running_server(folder):
        url = f"postgresql://ana@/postgres?host={folder}"
        with open_store(url) as store:
            for race in (*map(product.race, RACES), *product.races("trend")):
                store.begin(race)
        yield url


def connections(store_url):
    """Return how many connections to the database programs of Stackrace have."""
    return int(run_sql(store_url, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stackrace'"))


def run_sql(store_url, sql):
    """Return what PostgreSQL's own shell prints, as another program asks."""
    command = [find("psql"), "-h", store_url.partition("host=")[2], "-U", "ana", "-Atqc", sql, "postgres"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_every_page_opens_and_leaves_no_connection(store_url):
    with served(store_url) as site:
        index = site.get()
        races = listed(index)
        assert {product.race(name).id for name in RACES} <= set(races)
        for race_id in races:
            assert "Skip to the result" in site.get(f"races/{race_id}/")
        for form in ("json", "csv", "md"):
            assert races[0] in site.get(f"races/{races[0]}.{form}")
        first, second = (race.id for race in product.races("trend")[:2])
        assert "second ÷ first" in unescape(site.get(f"compare/?race={first}&race={second}"))
        assert listed(site.get(f"?q={first[:6]}")) == [first]
        trend = re.search(r'href="/(results/trend/[^"]+)"', index)[1]
        assert "Skip to the result" in site.get(unescape(trend))
        assert site.refused("races/0000000000000/")[0] == 404
        assert connections(store_url) == 0


def name(site, race_id, given):
    """Name a race as its page's form does; return the status and the page after it."""
    address, browser = f"{site.address}races/{race_id}/", user_agent()
    with browser.open(address, timeout=1800) as answer:
        token = answer.read().decode().partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": token, "name": given}).encode()
    sent = urllib.request.Request(f"{address}name", form, {"Origin": site.address.rstrip("/")})
    try:
        with browser.open(sent, timeout=1800) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_race_gets_a_name(store_url):
    race = make_race(2, blocks=0, id=ids.generate())
    with open_store(store_url) as store:
        store.begin(race)
    with served(store_url, "--edit") as site:
        status, page = name(site, race.id, "before-upgrade-2024")
        assert status == 200 and "called before-upgrade-2024" in page
        assert listed(site.get("?q=before-upgrade")) == [race.id]


def test_each_page_that_watches_a_race_has_one_connection_and_gives_it_back(store_url, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    race = replace(make_race(2, blocks=2, id=ids.generate()), ending=None)
    with race_lock(race.id, new=True), served(store_url) as site:
        with open_store(store_url) as store:
            store.begin(race)
        assert "running" in site.get()
        with ExitStack() as pages:
            for number in range(1, 4):
                events = pages.enter_context(watched(site, race.id))
                assert "After 1 block." in events
                assert connections(store_url) == number
            assert "The standing is provisional" in site.get(f"races/{race.id}/")
            assert connections(store_url) == 3
        while connections(store_url):
            time.sleep(0.05)


def test_a_user_who_may_only_read_browses_and_is_told_why_nothing_can_be_named(store_url):
    told = "CREATE ROLE guest LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest"
    run_sql(store_url, told)
    with served(store_url.replace("ana@", "guest@"), "--edit") as site:
        assert product.race("race-void").id in listed(site.get())
        status, page = name(site, product.race("race-void").id, "after-upgrade-2024")
        assert status == 503 and "grant it SELECT, INSERT and UPDATE" in page


def test_a_server_that_is_down_is_no_missing_page(tmp_path):
    with tempfile.TemporaryDirectory(prefix="pg") as folder, ExitStack() as held:
        with running_server(folder):
            site = held.enter_context(served(f"postgresql://ana@/postgres?host={folder}"))
        status, page = site.refused("")
        assert status == 503 and "the server cannot be reached; start it" in page
