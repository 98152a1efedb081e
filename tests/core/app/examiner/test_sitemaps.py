"""What is read of a site's sitemaps, bounded."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.examiner import crawl
from stackrace.app.examiner.crawl import _MOST_LOCATED, _MOST_SITEMAPS, located, path_of


def pages(*paths):
    return "<urlset>" + "".join(f"<url><loc>https://x{path}</loc></url>" for path in paths) + "</urlset>"


def index(*paths):
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in paths) + "</sitemapindex>"


class Site:
    def __init__(self, **files):
        self.files = {"/" + name.replace("_", "."): text for name, text in files.items()}
        self.asked = []

    def __call__(self, path):
        self.asked.append(path)
        text = self.files.get(path)
        return (404, b"") if text is None else (200, text if isinstance(text, bytes) else text.encode())


def test_without_robots_the_usual_sitemap_is_read():
    assert located(Site(sitemap_xml=pages("/a", "/b?c=1&amp;d=2", "/a"))) == ["/a", "/b?c=1&d=2"]


def test_every_sitemap_of_robots_is_read():
    robots = "User-agent: *\nSitemap: https://x/one.xml\nsitemap: /two.xml\n"
    assert located(Site(robots_txt=robots, one_xml=pages("/1"), two_xml=pages("/2"))) == ["/1", "/2"]


def test_an_index_that_leads_to_itself_ends():
    site = Site(sitemap_xml=index("/sitemap.xml", "/one.xml"), one_xml=pages("/1"))
    assert located(site) == ["/1"]
    assert site.asked == ["/robots.txt", "/sitemap.xml", "/one.xml"]


def test_an_index_without_end_is_cut_off():
    asked = []

    def endless(path):
        asked.append(path)
        return 200, index(f"{path}x").encode()

    assert located(endless, "/s") == []
    assert len(asked) == _MOST_SITEMAPS


def test_very_many_pages_are_cut_off():
    assert len(located(Site(sitemap_xml=pages(*(f"/{number}" for number in range(5000)))))) == _MOST_LOCATED


def test_a_sitemap_that_unpacks_to_very_much_is_cut_off(monkeypatch):
    monkeypatch.setattr(crawl, "_MOST_BYTES", 1000)
    packed = gzip.compress(pages(*(f"/{number}" for number in range(5000))).encode())
    assert 0 < len(located(Site(sitemap_xml=packed))) < 50
    assert located(Site(sitemap_xml=packed[:20] + b"rubbish")) == []


@given(st.binary(max_size=40))
def test_every_address_is_a_path_of_this_site_or_none(url):
    path = path_of(url)
    assert not path or (path.startswith("/") and not path.startswith("//"))
    assert path.isascii()
