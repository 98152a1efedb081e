"""``make docs`` builds a site in which every link leads somewhere, with all that the code declares."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.axe import PHONE, WIDE, look
from tests.chromium import CHROMIUM, Chromium

from stackrace.base.errors import StackraceError
from stackrace.cli.main import INTERRUPTED, VERBS
from stackrace.stacks.servers import catalogue

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as the Makefile builds it."""
    folder = tmp_path_factory.mktemp("site").resolve()
    recipe = re.search(r"-m sphinx (.*) build/docs$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, "-m", "sphinx", *shlex.split(recipe[1]), folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """What a page of the site refers to, and where others may refer to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given.get("id") or "", given.get("name") or ""}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif address := given.get("src") or (tag == "link" and given.get("href")):
            self.loaded.append(address)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def text_of(site, page):
    return unescape(re.sub(r"<[^>]+>", "", (site / f"docs/{page}.html").read_text(encoding="utf-8")))


def test_every_link_and_file_of_every_page_is_there(pages):
    missing = []
    for path, page in pages.items():
        for address in (*page.links, *page.loaded):
            parts = urlsplit(address)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].ids if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in anchors):
                missing.append(f"{path.name}: {address}")
    assert missing == []


def test_schemas_lie_where_editors_find_them(site):
    schema = json.loads((site / "schemas/init.json").read_text(encoding="utf-8"))
    assert {"app", "load", "race"} <= set(schema["properties"])
    assert {"report", "check", "load"} <= {path.stem for path in (site / "schemas").iterdir()}


def test_the_site_loads_nothing_from_elsewhere(pages):
    assert [address for page in pages.values() for address in page.loaded if urlsplit(address).netloc] == []


def test_the_search_knows_every_page_without_a_server(site, pages):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    names = [path.relative_to(site).with_suffix("").as_posix() for path in pages]
    assert [name for name in names if name.startswith("docs/") and f'"{name}"' not in index] == []


@pytest.mark.parametrize("entry", list(catalogue()), ids=lambda entry: entry.spec.name)
def test_every_server_has_a_page_with_its_settings_and_faults(entry, site):
    text = text_of(site, f"servers/{entry.spec.name}")
    assert entry.spec.title in text
    assert [setting.name for setting in entry.spec.settings if setting.name not in text] == []
    assert ("Known faults" in text) == bool(entry.faults)


def test_every_command_is_in_the_reference_with_its_options(site):
    text = text_of(site, "reference/commands")
    assert [name for name in VERBS if f"stackrace {name}" not in text] == []
    assert "--budget" in text


def test_the_reference_of_documents_has_all_that_are_published(site):
    text = text_of(site, "reference/json")
    kinds = ("race", "load", "check", "tune", "trend", "export")
    assert [kind for kind in kinds if f"Stackrace {kind}, version" not in text] == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with Chromium(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.mark.parametrize(
    "name",
    [
        "index",
        "tutorial",
        "how-to/off-unit",
        "servers/nginx",
        "reference/race-toml",
        "historic/lighttpd-2008",
        "architecture",
    ],
)
def test_everybody_can_use_its_pages(name, site, browser):
    browser.open((site / f"docs/{name}.html").as_uri())
    assert faults_of(browser) == []


@pytest.mark.parametrize("words", ["", "gunicorn", "nothing-like-it"])
def test_everybody_can_use_its_search(words, site, browser):
    browser.open(f"{(site / 'search.html').as_uri()}?q={words}")
    browser.until("document.querySelector('h1')")
    if words:
        browser.until("document.querySelector('.search-summary')?.innerText.match(/found|did not match/)")
    assert faults_of(browser) == []


def faults_of(browser):
    views = [(scheme, size) for scheme in ("light", "dark") for size in (WIDE, PHONE)]
    return [(*view, fault) for view in views for fault in look(browser, *view)]


def codes(kind):
    return {kind.exit_code}.union(*map(codes, kind.__subclasses__()))


def test_the_exit_codes_are_those_of_the_errors():
    text = (ROOT / "docs/reference/exit-codes.md").read_text(encoding="utf-8")
    assert set(map(int, re.findall(r"^\| (\d+) \|", text, re.MULTILINE))) == {
        0,
        1,
        INTERRUPTED,
        *codes(StackraceError),
    }
