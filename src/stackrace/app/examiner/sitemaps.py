"""The pages that a site names in its sitemaps. Source: sitemaps.org, "Sitemaps XML format"; robots.txt too."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

MOST_SITEMAPS = 10
"""Read, those included that others lead to."""
MOST_LOCATED = 2000
_MOST_BYTES = 10_000_000
_USUAL = "/sitemap.xml"
_LOCATION = re.compile(rb"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]+)", re.IGNORECASE)
_ROBOTS = re.compile(rb"^\s*sitemap:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_INDEX = re.compile(rb"<sitemapindex[\s>]", re.IGNORECASE)

if TYPE_CHECKING:  # Python 3.8 cannot run this line
    Fetch = Callable[[str], tuple[int, bytes]]
"""Returns the status and the body of a path."""


def located(fetch: Fetch, given: str = "") -> list[str]:
    """Return the paths of the sitemap ``given``, else of those in robots.txt, else of the usual one.

    An index is followed; whatever host a sitemap names, its pages are this site's.
    """
    waiting = [given] if given else list(_named(fetch)) or [_USUAL]
    read: set[str] = set()
    pages: dict[str, None] = {}
    while waiting and len(read) < MOST_SITEMAPS and len(pages) < MOST_LOCATED:
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
    return list(pages)[:MOST_LOCATED]


def path_of(url: bytes) -> str:
    """Return the path and query of ``url``; empty for one that is no address of a page.

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
