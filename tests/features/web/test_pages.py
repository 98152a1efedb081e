"""Pages of the site as they are served: the list, the search, two races, every kind of result, names."""

from __future__ import annotations

import csv
import json
import re
import socket
import urllib.parse
import urllib.request
from html import unescape

import pytest
from tests.factories import make_race
from tests.features.web.conftest import RACES, address_of
from tests.features.web.serving import listed, served, user_agent
from tests.frozen import product

from stackrace.base import ids
from stackrace.store import open_store


def read(page):
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_every_race_is_listed_and_opens(site):
    index = site.get()
    assert {product.race(name).id for name in RACES} <= set(listed(index))
    for race_id in listed(index):
        assert "Skip to the result" in site.get(f"races/{race_id}/")


@pytest.mark.parametrize(
    ("name", "kind"), [("race-answered", "race"), ("tuning", "tuning"), ("check-failed", "check")]
)
def test_a_search_finds_races_by_all_of_its_words(site, name, kind):
    race = product.race(name)
    stack = urllib.parse.quote(race.stacks[-1])
    found = site.get(f"?q={race.app.split()[0].upper()}+{kind}+{stack}")
    assert race.id in listed(found)
    assert listed(site.get(f"?q={race.id[:6]}")) == [race.id]
    assert listed(site.get(f"?q={race.id[:6]}+otherwise")) == []


def test_what_was_searched_stands_in_the_field_and_is_no_markup(site):
    page = site.get("?q=%22%3E%3Cscript%3E")
    assert "<script" not in page and 'value="&quot;&gt;&lt;script&gt;"' in page
    assert "None of" in page


@pytest.mark.parametrize("kind", ["trend", "historic", "capacity"])
def test_results_of_many_races_are_listed_and_open(site, kind):
    links = re.findall(rf'href="(/results/{kind}/[^"]+)"', site.get())
    assert links
    for link in links:
        page = site.get(unescape(link)[1:])
        assert "<h1" in page and "Skip to the result" in page


@pytest.mark.parametrize(
    "path", ["results/trend/?of=nothing", "results/flight/?of=a", "races/0000000000000/", "nowhere/"]
)
def test_what_is_not_there_is_said(site, path):
    status, page = site.refused(path)
    assert status == 404
    assert "<h1>Not here</h1>" in page and "All races" in page


def test_a_race_has_its_documents(site):
    race = product.race("race-answered")
    address = f"races/{race.id}"
    assert json.loads(site.get(f"{address}.json"))["race"]["id"] == race.id
    assert len(list(csv.reader(site.get(f"{address}.csv").splitlines()))) > 1
    assert site.get(f"{address}.md").count("|") > 10
    assert site.refused(f"{address}.html")[0] == 400


def test_two_races_stand_side_by_side(site):
    first, second = (race.id for race in product.races("trend")[:2])
    page = site.get(f"compare/?race={first}&race={second}")
    text = read(page)
    assert first in text and second in text
    assert "Right answers per second" in text and "second ÷ first" in text and "what differs" in text
    assert "stackrace check" in text


def test_races_with_nothing_in_common_say_so(site):
    ours = [product.race(name).id for name in ("race-answered", "tuning")]
    assert "Nothing to compare" in site.get(f"compare/?race={ours[0]}&race={ours[1]}")


@pytest.mark.parametrize("chosen", [0, 1, 3])
def test_not_two_races_are_refused(site, chosen):
    query = "&".join([f"race={product.race('race-answered').id}"] * chosen)
    status, page = site.refused(f"compare/?{query}")
    assert status == 400 and "two races are compared" in page


# names


@pytest.fixture
def editable(tmp_path, new_store):
    """A site that names races, its store and the id of the only race there."""
    path = tmp_path / "races.sqlite3"
    path.write_bytes(new_store.read_bytes())
    race = make_race(2, blocks=2, id=ids.generate())
    with open_store(f"sqlite:///{path}") as store:
        store.begin(race)
    with served(f"sqlite:///{path}", "--edit") as site:
        yield site, f"sqlite:///{path}", race.id


def token(page):
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]


def test_a_race_gets_a_name_once(editable):
    site, store_url, race_id = editable
    address, user = f"{site.address}races/{race_id}/", user_agent()
    with user.open(address, timeout=1800) as answer:
        form = {"csrfmiddlewaretoken": token(answer.read().decode()), "name": "before-upgrade-2024"}
    sent = urllib.request.Request(
        f"{address}name", urllib.parse.urlencode(form).encode(), {"Origin": site.address.rstrip("/")}
    )
    with user.open(sent, timeout=1800) as answer:
        page = answer.read().decode()
    assert "called before-upgrade-2024" in page and "<form" not in page
    with open_store(store_url) as store:
        assert store.name_of(race_id) == "before-upgrade-2024"
    assert listed(site.get("?q=before-upgrade")) == [race_id]


def test_a_name_that_cannot_be_is_refused_with_the_reason(editable):
    site, _, race_id = editable
    address, user = f"{site.address}races/{race_id}/", user_agent()
    with user.open(address, timeout=1800) as answer:
        form = {"csrfmiddlewaretoken": token(answer.read().decode()), "name": "short"}
    with pytest.raises(urllib.error.HTTPError) as raised:
        user.open(f"{address}name", urllib.parse.urlencode(form).encode(), timeout=1800)
    with raised.value as answer:
        assert answer.code == 400 and "13" in answer.read().decode()


@pytest.mark.parametrize("origin", [None, "http://evil.example"])
def test_a_form_from_elsewhere_names_nothing(editable, origin):
    site, store_url, race_id = editable
    user = user_agent()
    with user.open(f"{site.address}races/{race_id}/", timeout=1800) as answer:
        form = {"csrfmiddlewaretoken": token(answer.read().decode()), "name": "before-upgrade-2024"}
    if origin is None:
        del form["csrfmiddlewaretoken"]
    headers = {} if origin is None else {"Origin": origin}
    body = urllib.parse.urlencode(form).encode()
    with pytest.raises(urllib.error.HTTPError) as raised:
        user.open(urllib.request.Request(f"{site.address}races/{race_id}/name", body, headers), timeout=1800)
    with raised.value as answer:
        assert answer.code == 403
    with open_store(store_url) as store:
        assert store.name_of(race_id) == ""


def test_without_edit_nothing_can_be_sent(site):
    address = address_of("race-answered")
    assert "<form" not in site.get(address)
    assert site.refused(f"{address}name", b"name=before-upgrade-2024")[0] == 403
    assert site.refused(f"{address}name")[0] == 405
    assert site.refused(address, b"")[0] in (403, 405)


def test_a_port_in_use_is_named_with_the_way_out(stackrace, kinds):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = stackrace("web", "--port", port, "--store", kinds)
    assert done.returncode == 2
    assert f"--port {port} is taken by another program; choose another, such as --port" in done.stderr
