"""In which order pages are asked for."""

import gzip
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner import crawl as module
from stackrace.app.examiner.crawl import (
    _ALIKE,
    _CHANGES,
    _MOST_ALIKE,
    _MOST_AT_TOP,
    _MOST_LOCATED,
    _MOST_SITEMAPS,
    _choose,
    _links,
    _located,
    _unfound,
    crawl,
    is_main,
    path_of,
)
from stackrace.app.examiner.messages import ExchangeReport, Reply, Report, Survey
from stackrace.app.examiner.survey import View

paths = st.lists(st.sampled_from(["/", "/a/", "/a/1/", "/a/2/", "/b?x=1", "/log-out", "/c/d/", "/admin/x/"]))


def test_the_given_come_first_then_sitemaps_then_routes():
    asked, _ = _choose(["/", "/mine/deep/"], ["/far/away/"], ["/a/", "/mine/deep/"], [])
    assert asked == ["/", "/mine/deep/", "/far/away/", "/a/"]


def test_of_each_kind_those_with_the_fewest_parameters_come_first_then_those_at_the_top():
    views = {"/books/7/": View("book", 1), "/about/us/": View("about", 0), "/list/": View("list", 0)}
    located = ["/books/7/", "/list/?page=2", "/about/us/", "/list/"]
    asked, _ = _choose([], located, [], [], lambda path: views.get(path, View()))
    assert asked == ["/list/", "/about/us/", "/books/7/", "/list/?page=2"]


def test_a_few_pages_of_a_view_stand_for_the_others_wherever_they_lie():
    listed = [f"/{number}/" for number in range(6)]
    asked, unasked = _choose([], listed, [], [], lambda path: View("article", 1))
    assert asked == listed[:_MOST_ALIKE]
    assert unasked == dict.fromkeys(listed[_MOST_ALIKE:], _ALIKE)


def test_pages_at_the_top_may_differ_so_more_of_them_are_asked_for():
    top, folder = [f"/page{number}/" for number in range(20)], [f"/news/{number}/" for number in range(20)]
    assert _choose([], top + folder, [], [])[0] == top[:_MOST_AT_TOP] + folder[:_MOST_ALIKE]


def test_routes_of_unknown_views_are_all_asked_for_but_the_administrations():
    routes = [*(f"/api/{number}" for number in range(6)), "/admin/", "/admin/users/"]
    assert _choose([], [], routes, [])[0] == ["/admin/", *routes[:6]]


def test_routes_with_parameters_are_told_unless_a_page_of_them_is_known():
    routes = ["/items/<int:id>/", "/wiki/{name:path}", "/<slug>/", "/admin/<path:url>", "/items/<id>/delete/"]
    assert [*_unfound(routes, [])] == routes[:3]
    assert [*_unfound(routes, ["/items/7/"])] == routes[1:3]
    assert [*_unfound(routes, ["/wiki/a/b", "/about/", "/items/7/8/"])] == routes[:1]


@pytest.mark.parametrize(
    "path",
    [
        "/test404/",
        "/test500/",
        "/500.html",
        "/_util/login/",
        "/shop/error/",
        "/404",
        "/api/v3/docs",
        "/api/openapi.json",
    ],
)
def test_pages_that_try_out_an_error_and_a_frameworks_own_are_none_of_the_visitors(path):
    assert not is_main(path, "")


@pytest.mark.parametrize(
    "path", ["/", "/blog/", "/items/404/", "/errors-and-omissions/", "/a_b/", "/tests/1/", "/api/docs/7"]
)
def test_pages_with_such_words_in_another_place_are(path):
    assert is_main(path, "")


def test_links_count_beside_the_pages_of_accounts():
    accounts = ["/accounts/login/", "/accounts/signup/"]
    assert _choose([], [], accounts, ["/shirts/"])[0] == ["/shirts/", *accounts]
    assert _choose([], [], [*accounts, "/a/", "/b/", "/c/"], ["/shirts/"])[0] == ["/a/", "/b/", "/c/", *accounts]


def test_links_count_where_little_else_is_known():
    assert _choose([], [], ["/a/"], ["/b/"])[0] == ["/a/", "/b/"]
    assert _choose([], ["/x/", "/y/", "/z/"], [], ["/b/"])[0] == ["/x/", "/y/", "/z/"]
    # pages of the staff, and those that may change something, are not much to know
    assert _choose([], ["/", "/search/"], ["/admin/", "/logout/"], ["/b/"])[0][-1] == "/b/"
    assert _links(
        b'<a href="/b/?x=1&amp;y=2">b</a> <a class=x href="//other/">o</a> <a href="/b/?x=1&amp;y=2">', "localhost"
    ) == ["/b/?x=1&y=2"]


def test_links_of_a_toolbar_are_no_pages():
    assert _choose([], [], ["/a/"], ["/b/", "/__debug__/template_source/?template=a"])[0] == ["/a/", "/b/"]


def test_links_to_the_same_host_count_with_its_name():
    links = b"<a href='http://LOCALHOST/register'> <a href='http://other.example/x'> <a href='https://localhost'>"
    assert _links(links, "localhost") == ["/register"]


@given(paths, paths, paths, paths)
def test_every_page_is_asked_for_or_not_and_never_both(given, located, routes, linked):
    asked, unasked = _choose(given, located, routes, linked)
    assert len(set(asked)) == len(asked)
    assert not set(asked) & set(unasked)
    assert set(given) | set(located) <= set(asked) | set(unasked)
    assert "/log-out" in given or unasked.get("/log-out", _CHANGES) == _CHANGES


def pages(*paths):
    return "<urlset>" + "".join(f"<url><loc>https://x{path}</loc></url>" for path in paths) + "</urlset>"


def index(*paths):
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in paths) + "</sitemapindex>"


class Files:
    def __init__(self, **files):
        self.files = {"/" + name.replace("_", "."): text for name, text in files.items()}
        self.asked = []

    def __call__(self, path):
        self.asked.append(path)
        text = self.files.get(path)
        return (404, b"") if text is None else (200, text if isinstance(text, bytes) else text.encode())


def test_without_robots_the_usual_sitemap_is_read():
    assert _located(Files(sitemap_xml=pages("/a", "/b?c=1&amp;d=2", "/a"))) == ["/a", "/b?c=1&d=2"]


def test_every_sitemap_of_robots_is_read():
    robots = "User-agent: *\nSitemap: https://x/one.xml\nsitemap: /two.xml\n"
    assert _located(Files(robots_txt=robots, one_xml=pages("/1"), two_xml=pages("/2"))) == ["/1", "/2"]


def test_an_index_that_leads_to_itself_ends():
    site = Files(sitemap_xml=index("/sitemap.xml", "/one.xml"), one_xml=pages("/1"))
    assert _located(site) == ["/1"]
    assert site.asked == ["/robots.txt", "/sitemap.xml", "/one.xml"]


def test_an_index_without_end_is_cut_off():
    asked = []

    def endless(path):
        asked.append(path)
        return 200, index(f"{path}x").encode()

    assert _located(endless, "/s") == []
    assert len(asked) == _MOST_SITEMAPS


def test_very_many_pages_are_cut_off():
    assert len(_located(Files(sitemap_xml=pages(*(f"/{number}" for number in range(5000)))))) == _MOST_LOCATED


def test_a_sitemap_that_unpacks_to_very_much_is_cut_off(monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    packed = gzip.compress(pages(*(f"/{number}" for number in range(5000))).encode())
    assert 0 < len(_located(Files(sitemap_xml=packed))) < 50
    assert _located(Files(sitemap_xml=packed[:20] + b"rubbish")) == []


@given(st.binary(max_size=40))
def test_every_address_is_a_path_of_this_site_or_none(url):
    path = path_of(url)
    assert not path or (path.startswith("/") and not path.startswith("//"))
    assert path.isascii()


class Site:
    """An app of which each answer takes seconds by its path, and the channel that hears of what was asked."""

    def __init__(self, takes_s, sitemaps=None, home=b""):
        self.takes_s, self.sitemaps, self.home = takes_s, sitemaps or {}, home
        self.now_s, self.asked, self.left_s = 100.0, [], []
        self.report = Report(survey=Survey())

    def monotonic(self):
        return self.now_s

    def _answered(self, path):
        self.now_s += next(seconds for part, seconds in self.takes_s.items() if part in path)
        self.asked.append(path)

    def page(self, request):
        self._answered(request["path"])
        reply = Reply(404 if "gone" in request["path"] else 200, (), self.home)
        return ExchangeReport(request["path"], "", (), reply, reply, 2.0 if "slow" in request["path"] else 0.0, 0.0)

    def glance(self, request):
        self._answered(request["path"])
        body = self.sitemaps.get(request["path"])
        return (404, b"") if body is None else (200, body)

    def crawled(self, *given, time_s, enough=None):
        heard = SimpleNamespace(
            report=lambda report: None,
            end_in=lambda seconds: None,
            page=lambda exchange: None,
            progress=lambda done, number, left_s: self.left_s.append(left_s),
        )
        order = {"given": list(given), "headers": [], "sitemap": "", "time_s": time_s, "enough": enough}
        crawl(order, self, None, self.report, heard)
        return self.asked


@pytest.fixture
def site(monkeypatch):
    def make(*arguments, **more):
        made = Site(*arguments, **more)
        monkeypatch.setattr(module, "time", made)
        return made

    return make


def sitemap(*paths):
    return b"".join(b"<loc>http://x%s</loc>" % path.encode() for path in paths)


def test_when_the_time_is_over_the_most_telling_pages_were_asked_for(site):
    deep = [f"/s{number}/deep/" for number in range(20)]
    slow = site({"deep": 2.0, "": 0.1}, {"/sitemap.xml": sitemap(*deep, "/top/")})
    asked = slow.crawled("/mine/", time_s=6.0)
    assert asked == ["/", "/robots.txt", "/sitemap.xml", "/mine/", "/top/", *deep[:3]]
    assert set(slow.report.survey.asked) == {"/", "/mine/", "/top/", *deep}


def test_the_users_own_pages_are_asked_for_however_long_they_take(site):
    assert site({"": 10.0}).crawled("/a/", "/b/", time_s=1.0) == ["/", "/robots.txt", "/a/", "/b/"]


def test_a_slow_home_page_takes_no_time_from_the_sitemap_and_its_pages(site):
    slow = site({"txt": 0.1, "xml": 0.1, "blog": 0.1, "": 9.0}, {"/sitemap.xml": sitemap("/blog/")})
    assert slow.crawled(time_s=10.0) == ["/", "/robots.txt", "/sitemap.xml", "/blog/"]


def test_sitemaps_that_are_slow_leave_time_for_pages(site):
    robots = b"".join(b"Sitemap: https://x/slow%d.xml\n" % number for number in range(9))
    asked = site({"slow": 0.5, "": 0.1}, {"/robots.txt": robots}).crawled("/a/", time_s=6.0)
    assert asked == ["/", "/robots.txt", "/slow0.xml", "/slow1.xml", "/slow2.xml", "/a/"]


def test_what_is_left_is_told_by_the_pages_so_far_and_never_more_than_the_time(site):
    links = b"".join(b'<a href="/p%d/x/">' % number for number in range(2))
    quick = site({"xml": 0.0, "txt": 0.0, "": 1.0}, home=links)
    assert quick.crawled(time_s=60.0)[-2:] == ["/p0/x/", "/p1/x/"]
    assert quick.left_s == [2.0, 1.0]
    slow = site({"xml": 0.0, "txt": 0.0, "": 40.0}, home=links)
    slow.crawled(time_s=60.0)
    assert slow.left_s == [60.0, 20.0]


def test_once_enough_pages_can_be_raced_no_more_are_asked_for(site):
    paths = ("/a/", "/gone/", "/slow/", "/admin/", "/b/", "/c/")
    quick = site({"": 0.1}, {"/sitemap.xml": sitemap(*paths)})
    assert quick.crawled(time_s=600.0, enough=3)[3:] == ["/a/", "/gone/", "/slow/", "/admin/", "/b/"]
