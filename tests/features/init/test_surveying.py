"""Which pages of a project are asked for, and which of them are raced."""

import gzip
import sys
from pathlib import Path

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.preparing import Step
from stackrace.features.init.project_survey import hidden, survey_project
from stackrace.race.preparation.pages import Crawling, Page
from stackrace.race.preparation.pages import raced as choose
from stackrace.race.request.request import RaceRequest

SITE = """
import gc
import os
import time

ASKED, PAGES, ROBOTS, FILES = {asked!r}, {pages!r}, {robots!r}, {files!r}
HEARD = {heard!r}
LOADED = open({loaded!r}, "a")
print("once", file=LOADED, flush=True)


def app(environ, start_response):
    path = environ["PATH_INFO"]
    with open(ASKED, "a") as file:
        print(path, file=file)
    if path == "/robots.txt":
        start_response("200 OK" if ROBOTS else "404 Not Found", [])
        return [ROBOTS.encode()]
    if path in FILES:
        start_response("200 OK", [])
        return [FILES[path]]
    if path == "/sitemap.xml" and PAGES:
        start_response("200 OK", [])
        return [b"".join(b"<loc>http://x%s</loc>" % page.encode() for page in PAGES)]
    if "heard" in path:
        while not os.path.exists(HEARD):
            time.sleep(0.01)
    if "leap" in path:
        now = time.monotonic
        time.monotonic = lambda: now() + 3600.0
    if "hang" in path:
        # as if all the time had passed
        next(each for each in gc.get_objects() if type(each).__name__ == "Channel").end_in(0.1)
        time.sleep(3600)
    if "die" in path:
        os._exit(7)
    start_response("404 Not Found" if "gone" in path or "sitemap" in path else "200 OK", [])
    return [b"page"]
"""


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, kept = tmp_path / "site", tmp_path / "cache" / "stackrace"
    asked, loaded = kept / "asked", kept / "loaded"
    folder.mkdir()
    # the only folder here that an app shares with us
    kept.mkdir(parents=True)

    def make(*pages, robots="", files=None, hear=lambda preparing: None, urls=(), **crawling):
        values = {"asked": str(asked), "loaded": str(loaded), "heard": str(kept / "heard"), "robots": robots}
        (folder / "site.py").write_text(SITE.format(pages=list(pages), files=files or {}, **values))
        (folder / "site.py").rename(folder / "shop.py")
        request = RaceRequest(folder=folder, python=Path(sys.executable), urls=urls or None)
        found = survey_project(request, hear, Crawling(time_s=600.0, **crawling))
        assert loaded.read_text() == "once\n"
        return found, set(asked.read_text().split())

    return make


def raced(found):
    return [page.path for page in found.raced]


def problems(found):
    return {page.path: page.problem for page in found.pages if page.problem}


def test_pages_that_change_something_are_not_asked_for(survey):
    found, asked = survey("/a/", "/account/logout/", "/items/delete/", "/gone/")
    assert asked == {"/", "/a/", "/gone/", "/robots.txt", "/sitemap.xml"}
    assert raced(found) == ["/", "/a/"]
    assert problems(found) == {
        "/gone/": "answers 404",
        "/account/logout/": "not asked for: it may change something",
        "/items/delete/": "not asked for: it may change something",
    }


def test_a_slow_page_that_nobody_named_is_left_out():
    pages = [
        Page(path=path, status=200, seconds=seconds) for path, seconds in (("/", 0.1), ("/a", 2.0), ("/b", 0.4))
    ]
    assert [page.path for page in choose(pages)] == ["/", "/b"]
    assert [page.path for page in choose(pages, named=["/a"])] == ["/", "/a", "/b"]
    assert [page.path for page in choose(pages[1:])] == ["/a", "/b"], "the first is as slow"
    many = [Page(path=f"/{number}", status=200) for number in range(9)]
    assert [page.path for page in choose(many, named=["/7"])] == ["/0", "/1", "/2", "/3", "/7"]


def test_articles_side_by_side_stand_for_each_other(survey):
    found, asked = survey(*(f"/news/{number}/" for number in range(10)), "/about/")
    assert raced(found) == ["/", "/about/", "/news/0/", "/news/1/", "/news/2/"]
    assert "/news/3/" not in asked
    assert problems(found)["/news/3/"] == "not asked for: it is like others"


def test_when_the_time_is_over_the_other_pages_are_named(survey):
    found, asked = survey("/s/deep/", "/leap/", "/top/")
    assert asked == {"/", "/leap/", "/robots.txt", "/sitemap.xml"}
    assert raced(found) == ["/", "/leap/"]
    assert problems(found) == dict.fromkeys(["/top/", "/s/deep/"], "not asked for: the time was over (--time)")


@pytest.mark.parametrize(("page", "reason"), [("/b/hang/", "no answer in time"), ("/b/die/", "the app died (7)")])
def test_a_page_that_hangs_or_kills_the_app_costs_no_other(survey, page, reason):
    found, _ = survey("/a/", page, "/c/late/page/")
    assert raced(found) == ["/", "/a/"]
    assert problems(found)[page] == reason


def test_sitemaps_of_robots_and_those_that_an_index_names_are_followed(survey):
    index = b"<sitemapindex><sitemap><loc>https://x/more/one.xml.gz</loc></sitemap></sitemapindex>"
    one = gzip.compress(b"<urlset><url><loc>https://x/a/</loc></url></urlset>")
    found, asked = survey(
        robots="User-agent: *\nSitemap: https://x/more/index.xml\n",
        files={"/more/index.xml": index, "/more/one.xml.gz": one},
    )
    assert raced(found) == ["/", "/a/"]
    assert "/sitemap.xml" not in asked


def test_a_sitemap_that_is_given_is_read_in_place_of_others(survey):
    files = {"/hidden.xml": b"<urlset><url><loc>https://x/a/</loc></url></urlset>"}
    found, asked = survey("/b/", files=files, sitemap="/hidden.xml")
    assert raced(found) == ["/", "/a/"]
    assert asked.isdisjoint({"/robots.txt", "/sitemap.xml"})


def test_how_far_it_is_is_said_with_the_time_that_is_left(survey, tmp_path):
    words = []

    def hear(preparing):
        if preparing.step is Step.PAGES:
            words.append(preparing.subject)
        if len(words) > 1:
            (tmp_path / "cache" / "stackrace" / "heard").touch()

    survey("/heard/", hear=hear)
    first, *others = words
    assert first == "site for its pages"
    assert others
    assert all(word.startswith(f"{first}: 1 of 2, ") and word.endswith(" left") for word in others)


ROUTED = """
class Route:
    path, methods = "/items/{id}", {"GET"}


class Site:
    routes = [Route]

    def __call__(self, environ, start_response):
        start_response("200 OK", [])
        return [b"page"]


app = Site()
"""


def test_a_route_with_parameters_is_listed_with_the_flag_that_names_a_page(tmp_path):
    (tmp_path / "shop.py").write_text(ROUTED)
    request = RaceRequest(folder=tmp_path, python=Path(sys.executable), entry=entry_of(EntryKind.WSGI, "shop:app"))
    found = survey_project(request)
    assert raced(found) == ["/"]
    (group,) = hidden(found, found.raced)
    assert (group.example, len(group.pages)) == ("/items/{id}", 1)
    assert "--url /items/1" in group.reason
