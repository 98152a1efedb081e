"""Crawl a site: request its pages and those of its sitemaps, the most informative first, until the time is over.

Source: sitemaps.org, "Sitemaps XML format"; robots.txt too.
"""

from __future__ import annotations

import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .asking import Asking
from .messages import Channel, CrawlOrder, ExchangeReport, Reply, Report, RequestMessage, Survey
from .survey import PARAMETER, View, view_of

_MOST_SITEMAPS = 10
_MOST_LOCATED = 2000
_MOST_BYTES = 10_000_000
_USUAL = "/sitemap.xml"
_LOCATION = re.compile(rb"<loc>\s*(?:<!\[CDATA\[\s*)?([^<\]\s]+)", re.IGNORECASE)
_ROBOTS = re.compile(rb"^[ \t]*sitemap:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_INDEX = re.compile(rb"<sitemapindex[\s>]", re.IGNORECASE)

if TYPE_CHECKING:  # Python 3.8 cannot run this line
    Fetch = Callable[[str], tuple[int, bytes]]
"""Function that returns the status and the body of a path."""


def _located(fetch: Fetch, given: str = "") -> list[str]:
    """Return the paths in the sitemap ``given``, else in those of robots.txt, else in ``/sitemap.xml``.

    Sitemap indexes are followed. The host in a sitemap's URLs is ignored: all pages are of this site.
    """
    waiting = [given] if given else list(_named(fetch)) or [_USUAL]
    read: set[str] = set()
    pages: dict[str, None] = {}
    while waiting and len(read) < _MOST_SITEMAPS and len(pages) < _MOST_LOCATED:
        path = waiting.pop(0)
        if path in read:
            continue
        read.add(path)
        body = _body(fetch, path)
        paths = [path for path in map(path_of, _LOCATION.findall(body)) if path]
        if _INDEX.search(body[:2000]):
            waiting += paths
        else:
            pages.update(dict.fromkeys(paths))
    return list(pages)[:_MOST_LOCATED]


def path_of(url: bytes) -> str:
    """Return the path and query of ``url``; empty if it is not the address of a page.

    >>> path_of(b"https://shop.example.com/books/?a=1&amp;b=2"), path_of(b"//other.example.com/")
    ('/books/?a=1&b=2', '')
    """
    if url.startswith(b"//"):
        return ""
    try:
        parts = urlsplit(url.decode("ascii").replace("&amp;", "&"))
    except ValueError:
        return ""
    path = parts.path or ("/" if parts.netloc and parts.scheme else "")
    if not path.startswith("/") or path.startswith("//") or any(character.isspace() for character in path):
        return ""
    return path + ("?" + parts.query if parts.query else "")


def _named(fetch: Fetch) -> Iterator[str]:
    """Yield the sitemaps in robots.txt."""
    for url in _ROBOTS.findall(_body(fetch, "/robots.txt")):
        if path := path_of(url):
            yield path


def _body(fetch: Fetch, path: str) -> bytes:
    status, body = fetch(path)
    if status != 200:
        return b""
    if body.startswith(b"\x1f\x8b"):
        try:
            return zlib.decompressobj(31).decompress(body, _MOST_BYTES)
        except zlib.error:
            return b""
    return body[:_MOST_BYTES]


_MOST_ALIKE = 3
"""Most pages per view, or per folder if views are unknown: the others, such as articles, are alike."""
_MOST_AT_TOP = 12
"""Most pages at the top of a site whose views are unknown: they may differ, or be articles."""
_FEW_PAGES = 3
"""With fewer pages, the links of the home page count as pages, too, as in a content management system."""

MOST_RACED = 5
"""Most pages that are raced if the user names none: with more pages, each is requested too seldom."""
SLOW_S = 0.5
"""Most seconds of a page that the user did not name: a slower page would dominate the results of a race."""

_CHANGES = "it may change something"
_ALIKE = "it is like others"

_MAY_CHANGE = re.compile(
    r"log-?out|sign-?out|delete|remove|unsubscribe|reset|destroy|flush|(?<![a-z])clear", re.IGNORECASE
)
_INNER_PAGE = re.compile(r"^/(django-|wagtail-|cms-)?admin/.+|^/__debug__/")
"""Pages for the site's staff only, of which the first level is enough."""
_NO_PAGE = re.compile(
    r"^/(admin|django-admin|docs|openapi\.json|redoc|schema|static|media|robots\.txt|favicon\.ico|sitemap\.xml)(/|$)"
    r"|/(openapi\.json|swagger\.json|redoc)/?$|^/api(/[\w.-]+)?/docs/?$"
    r"|^/_[_a-z]|/accounts/inactive(/|$)|^/[45]\d\d(\.html?)?(/|$)|/(test-?[45]\d\d|errors?(\.html?)?|error-?pages?)(/|$)"
)
"""Paths that are no pages for visitors: administration, API descriptions, files, framework pages, errors."""
_MINOR = re.compile(
    r"/(health(z|[-_]?checks?)?|livez|readyz|ping|accounts?|log-?in|sign-?(in|up)|register|password)(/|$)",
    re.IGNORECASE,
)
"""Paths of pages that say little of an app: that it lives, and those of accounts, which frameworks bring along."""
_LINK = re.compile(rb"""<a\s[^<>]*?href=["'](?:https?:/(/[^/"'#\s]+))?(/[^"'#\s]*)""", re.IGNORECASE)


def is_main(path: str, via: str) -> bool:
    """Tell whether ``path``, to which ``via`` redirects (empty: directly requested), is a page for visitors.

    Administration, files for robots and error pages are not. A redirect to another page, such as a login, is not
    the page that was requested, unless ``via`` is the home page.
    """
    is_same = not via or via == "/" or via.rstrip("/") == path.rstrip("/")
    return is_same and not _NO_PAGE.search(path)


def is_minor(path: str) -> bool:
    """Tell whether ``path`` is a page for monitors or accounts, which is raced if there are few others."""
    return _MINOR.search(path) is not None


def _links(body: bytes, host: str) -> list[str]:
    """Return the paths to which a page of ``host`` links, without links to other hosts."""
    here = f"/{host}".lower().encode()
    paths = [path_of(path) for other, path in _LINK.findall(body) if not other or other.lower() == here]
    return list(dict.fromkeys(filter(None, paths)))


def _choose(
    given: Iterable[str],
    located: Iterable[str],
    routes: Iterable[str],
    linked: Iterable[str],
    view_of: Callable[[str], View] = lambda path: View(),
) -> tuple[list[str], dict[str, str]]:
    """Return the pages to request in their order, and the reasons why others are not requested, by path.

    The ``given`` pages come first, then those of sitemaps, of the URL configuration and of links on the home page.
    Within each kind, pages with the fewest parameters come first, then pages at the top of the site. Minor pages of
    all kinds are last.
    """
    first = list(dict.fromkeys(given))
    rank: dict[str, int] = {}
    outer, linked = ([path for path in paths if not _INNER_PAGE.match(path)] for paths in (routes, linked))
    none = (_NO_PAGE, _MAY_CHANGE, _MINOR)
    for number, paths in enumerate((located, outer, linked)):
        if number < 2 or sum(not any(each.search(path) for each in none) for path in rank) < _FEW_PAGES:
            for path in paths:
                rank.setdefault(path, number)
    views = {path: view_of(path) for path in rank if path not in first}
    alike: Counter[tuple[int, str]] = Counter()
    asked = first
    unasked: dict[str, str] = {}

    def telling(path: str) -> tuple[bool, int, int, int]:
        return is_minor(path), rank[path], _parameters(path, views[path]), path.strip("/").count("/")

    for path in sorted(views, key=telling):
        group = _group(path, views[path], rank[path])
        if _MAY_CHANGE.search(path):
            unasked[path] = _CHANGES
        elif alike[group] >= (_MOST_AT_TOP if group == _TOP else _MOST_ALIKE):
            unasked[path] = _ALIKE
        else:
            alike[group] += 1
            asked.append(path)
    return asked, unasked


def chosen(
    survey: Survey,
    given: Iterable[str],
    home: Reply,
    fetch: Fetch,
    sitemap: str,
    view_of: Callable[[str], View] = lambda path: View(),
    host: str = "",
) -> Survey:
    """Return ``survey`` with the pages to request: ``given`` ones, and those of routes, sitemaps and the home page.

    ``sitemap`` is the path of a sitemap that robots.txt does not name, or empty. ``host`` is that of the requests:
    links to it are followed.
    """
    linked = _links(home.body, host) if home.status == 200 else []
    asked, unasked = _choose(given, _located(fetch, sitemap), survey.pages, linked, view_of)
    found = {path.partition("?")[0] for path in (*asked, *unasked)}.difference(survey.pages)
    return replace(survey, asked=tuple(asked), unasked=unasked, routes=tuple(_unfound(survey.routes, found)))


def _unfound(routes: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    """Yield the routes that visitors come for, and of which no page was ``found``."""
    for route in routes:
        is_left = any(each.search(route) for each in (_NO_PAGE, _INNER_PAGE, _MAY_CHANGE, _MINOR))
        parts = PARAMETER.split(route)
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = (".+" if "path" in part else "[^/]+" for part in parts[1::2])
        if not is_left and not any(map(re.compile("".join(parts)).fullmatch, found)):
            yield route


def example_of(route: str) -> str:
    """Return a path of a route with parameters, as an example.

    >>> example_of("/items/<int:id>/{page}")
    '/items/1/1'
    """
    return PARAMETER.sub("1", route)


_TOP = (2, "")


def _parameters(path: str, view: View) -> int:
    query = path.partition("?")[2]
    return view.parameters + (query.count("&") + 1 if query else 0)


def _group(path: str, view: View, rank: int) -> tuple[int, str]:
    """Return the key of a page's group: pages of one view are alike; routes whose view is unknown are not."""
    if view.name:
        return 0, view.name
    return (1, path) if rank == 1 else (2, path.partition("?")[0].rstrip("/").rpartition("/")[0])


_HOME = "/"
_SITEMAPS_SHARE = 0.25
"""Share of the time for requests of sitemaps; some sites generate these anew for every answer."""


def crawl(order: CrawlOrder, asking: Asking, application: Any, report: Report, channel: Channel) -> None:
    """Write a report with the survey first, then each page as it is answered: a page that hangs costs no other."""
    survey = report.survey
    assert survey is not None
    begun_s = time.monotonic()
    home = asking.page(_request(order, _HOME))
    # a slow home page takes no time from sitemaps and the other pages
    whole_s = order["time_s"] + time.monotonic() - begun_s

    def left_s() -> float:
        return whole_s - (time.monotonic() - begun_s)

    def fetch(path: str) -> tuple[int, bytes]:
        is_late = left_s() < (1 - _SITEMAPS_SHARE) * order["time_s"]
        return (0, b"") if is_late else asking.glance(_request(order, path))

    given, view = (_HOME, *order["given"]), view_of(application, report.django is not None)
    survey = report.survey = chosen(survey, given, home.first, fetch, order["sitemap"], view, report.host)
    channel.report(report)
    channel.page(home)
    able = int(_can_be_raced(home))
    for done, path in enumerate(survey.asked[1:], start=1):
        # the user's own pages are always requested, even if the time is over
        if done >= len(given) and (left_s() <= 0 or able == order["enough"]):
            return
        channel.progress(done, len(survey.asked), _eta_s(done, len(survey.asked), left_s(), whole_s))
        page = asking.page(_request(order, path))
        channel.page(page)
        able += _can_be_raced(page)


def _can_be_raced(page: ExchangeReport) -> bool:
    return page.first.succeeded and is_main(page.path, page.via) and page.wall_s <= SLOW_S


def _eta_s(done: int, number: int, left_s: float, time_s: float) -> float:
    """Return the expected seconds for the remaining pages, at the pace so far; at most ``left_s``."""
    return max(min(left_s, (time_s - left_s) / done * (number - done)), 0.0)


def _request(order: CrawlOrder, path: str) -> RequestMessage:
    return {"method": "GET", "path": path, "headers": order["headers"], "body": ""}
