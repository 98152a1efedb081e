"""The site in Chromium: axe-core's rules, a phone, the keyboard, dark and light."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from tests.axe import PHONE, WIDE, look, violations
from tests.chromium import CHROMIUM, Chromium
from tests.factories import make_race
from tests.features.web.conftest import RACES, address_of
from tests.features.web.serving import served
from tests.frozen import product

from stackrace.store import open_store
from stackrace.store.race_lock import race_lock

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

OTHERS = ("list", "found nothing", "compared", "trend", "historic", "capacity", "not there")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(params=[*RACES, *OTHERS])
def page(request, site, browser):
    """A page of the site, open in the browser."""
    browser.complaints.clear()
    browser.open(site.address + path_of(request.param, site))
    yield browser
    # what is not there is an error to the browser, too
    assert browser.complaints == [] or request.param == "not there"


def path_of(name, site):
    match name:
        case "list":
            return ""
        case "found nothing":
            return "?q=nothing"
        case "compared":
            first, second = (race.id for race in product.races("trend")[:2])
            return f"compare/?race={first}&race={second}"
        case "not there":
            return "races/0000000000000/"
        case "trend" | "historic" | "capacity":
            return unescape(re.search(rf'href="/(results/{name}/[^"]+)"', site.get())[1])
    return address_of(name)


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", PHONE)], ids=["light", "dark, on a phone"])
def test_everybody_can_use_it(page, scheme, size):
    assert look(page, scheme, size) == []


REACHABLE = "a[href], button, input:not([type=hidden]), summary, [tabindex='0']"
AT = """(() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    const all = [...document.querySelectorAll("%s")].filter(each => each.checkVisibility());
    return [all.indexOf(at), style.outlineStyle != "none" && parseFloat(style.outlineWidth) > 0,
            box.width > 0 && box.left >= 0 && box.top + scrollY >= 0, all.length];
})()"""


def test_by_keyboard_everything_is_reached_in_order_and_seen(page):
    page.size(*WIDE)
    page.run("document.activeElement.blur()")
    seen, count = [], page.run(AT % REACHABLE)[3]
    while len(seen) < count:
        page.press("Tab", 9)
        place, outlined, visible, _ = page.run(AT % REACHABLE)
        assert outlined and visible, page.run("document.activeElement.outerHTML")
        # the browser also stops at what can be scrolled
        seen += [place] if place >= 0 else []
    assert seen == list(range(count))


def test_the_skip_link_leads_to_the_result(page):
    page.size(*WIDE)
    page.run("document.activeElement.blur()")
    page.press("Tab", 9)
    assert page.run("document.activeElement.className") == "skip"
    page.press("Enter", 13)
    page.until("document.activeElement.id == 'result'")


@pytest.mark.parametrize("kind", ["race", "check-failed", "tuning"])
def test_the_page_of_a_running_race_is_for_everybody(kind, browser, tmp_path, new_store, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (path := tmp_path / "races.sqlite3").write_bytes(new_store.read_bytes())
    race = replace(make_race(4, blocks=3) if kind == "race" else product.race(kind), ending=None)
    with open_store(f"sqlite:///{path}") as store, race_lock(race.id, new=True):
        store.begin(race)
        with served(f"sqlite:///{path}") as site:
            browser.complaints.clear()
            browser.open(f"{site.address}races/{race.id}/")
            browser.until("document.querySelector('#standing :is(.board, .figures)')")
            for scheme, size in (("light", WIDE), ("dark", PHONE)):
                assert look(browser, scheme, size) == []
            browser.open("about:blank")
    assert browser.complaints == []


def test_the_form_for_a_name_works(browser, tmp_path, new_store):
    (path := tmp_path / "races.sqlite3").write_bytes(new_store.read_bytes())
    race = make_race(2, blocks=2)
    with open_store(f"sqlite:///{path}") as store:
        store.begin(race)
    with served(f"sqlite:///{path}", "--edit") as site:
        browser.open(f"{site.address}races/{race.id}/")
        assert violations(browser) == []
        browser.run("document.querySelector('#name').value = 'before-upgrade-2024'")
        browser.run("document.querySelector('footer form button').click()")
        browser.until("document.body.innerText.includes('called before-upgrade-2024')")
