"""For how long a site is asked for its pages: its sitemaps, the user's own pages, then the most telling ones."""

import base64
from types import SimpleNamespace

import pytest

from stackrace.app.examiner import crawl as module
from stackrace.app.examiner.crawl import crawl


class Site:
    """An app of which each answer takes seconds by its path, and the channel that hears of what was asked."""

    def __init__(self, takes_s, sitemaps=None, home=b""):
        self.takes_s, self.sitemaps, self.home = takes_s, sitemaps or {}, home
        self.now_s, self.asked, self.left_s = 100.0, [], []
        self.survey = {"pages": []}

    def monotonic(self):
        return self.now_s

    def _answered(self, path):
        self.now_s += next(seconds for part, seconds in self.takes_s.items() if part in path)
        self.asked.append(path)

    def page(self, request):
        self._answered(request["path"])
        body = base64.b64encode(self.home).decode()
        status, wall_s = 404 if "gone" in request["path"] else 200, 0.0 if "slow" not in request["path"] else 2.0
        return {"path": request["path"], "via": "", "first": {"status": status, "body": body}, "wall_s": wall_s}

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
        crawl(order, self, None, {"survey": self.survey, "django": None}, heard)
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
    assert set(slow.survey["asked"]) == {"/", "/mine/", "/top/", *deep}


def test_the_users_own_pages_are_asked_for_however_long_they_take(site):
    assert site({"": 10.0}).crawled("/a/", "/b/", time_s=1.0) == ["/", "/a/", "/b/"]


def test_sitemaps_that_are_slow_leave_time_for_pages(site):
    robots = b"".join(b"Sitemap: https://x/slow%d.xml\n" % number for number in range(9))
    asked = site({"slow": 0.5, "": 0.1}, {"/robots.txt": robots}).crawled("/a/", time_s=6.0)
    assert asked == ["/", "/robots.txt", "/slow0.xml", "/slow1.xml", "/slow2.xml", "/a/"]


def test_what_is_left_is_told_by_the_pages_so_far_and_never_more_than_the_time(site):
    links = b"".join(b'<a href="/p%d/x/">' % number for number in range(2))
    quick = site({"xml": 0.0, "txt": 0.0, "": 1.0}, home=links)
    assert quick.crawled(time_s=60.0)[-2:] == ["/p0/x/", "/p1/x/"]
    assert quick.left_s == [2.0, 1.0]
    slow = site({"xml": 0.0, "txt": 0.0, "": 25.0}, home=links)
    slow.crawled(time_s=60.0)
    assert slow.left_s == [35.0, 10.0]


def test_once_enough_pages_can_be_raced_no_more_are_asked_for(site):
    paths = ("/a/", "/gone/", "/slow/", "/admin/", "/b/", "/c/")
    quick = site({"": 0.1}, {"/sitemap.xml": sitemap(*paths)})
    assert quick.crawled(time_s=600.0, enough=3)[3:] == ["/a/", "/gone/", "/slow/", "/admin/", "/b/"]
