"""In which order the pages of a site are asked for: the most telling first, and which are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .sitemaps import path_of

MOST_ALIKE = 3
"""Pages of a view, or of a folder where views are unknown: they stand for the others, as articles do."""
MOST_AT_TOP = 12
"""Pages at the top of a site whose views are unknown: they may differ, or be articles."""
FEW_PAGES = 3
"""With fewer pages than that, the links of the home page are pages, too, as in a content management system."""

MOST_RACED = 5
"""Pages that are raced where nobody names any: with more of them each is asked too seldom."""
SLOW_S = 0.5
"""What a page may take that nobody named; one that takes longer is all that a race of several would measure."""

CHANGES = "it may change something"
ALIKE = "it is like others"

_CHANGES = re.compile(r"log-?out|sign-?out|delete|remove|unsubscribe|reset|destroy|flush", re.IGNORECASE)
_INNER_PAGE = re.compile(r"^/(django-|wagtail-|cms-)?admin/.+|^/__debug__/")
"""Pages that nobody but its staff sees: one of them stands for all."""
_NO_PAGE = re.compile(
    r"^/(__debug__|admin|django-admin|docs|openapi\.json|redoc|schema|static|media|robots\.txt|favicon\.ico|sitemap\.xml)(/|$)"
)
_LINK = re.compile(rb"""<a\s[^>]*?href=["'](/[^"'#\s]*)""", re.IGNORECASE)


class View(NamedTuple):
    """What answers a path."""

    name: str
    """Empty where it is not known."""
    parameters: int
    """How many parts of the path are given to it."""


class Choice(NamedTuple):
    """Pages in the order in which they are asked for, and those that are not, with the reason."""

    asked: list[str]
    unasked: dict[str, str]


def unknown_view(path: str) -> View:
    """Tell nothing of the view of ``path``."""
    return View("", 0)


def is_main(path: str, via: str) -> bool:
    """Tell whether ``path``, to which ``via`` redirects, is what visitors of ``via`` come for.

    Neither an administration is, nor a file for robots; and a page for a login is none of the page asked for.
    """
    is_same = not via or via == "/" or via.rstrip("/") == path.rstrip("/")
    return is_same and not _NO_PAGE.match(path)


def links(body: bytes) -> list[str]:
    """Return the paths that a page links to, each once."""
    return list(dict.fromkeys(filter(None, map(path_of, _LINK.findall(body)))))


def choose(
    given: Iterable[str],
    located: Iterable[str],
    routes: Iterable[str],
    linked: Iterable[str],
    view_of: Callable[[str], View] = unknown_view,
) -> Choice:
    """Return the pages ``given``, then those of sitemaps, of the URL configuration and of links on the home page.

    Of each kind those with the fewest parameters come first, then those at the top of the site.
    """
    first = list(dict.fromkeys(given))
    rank: dict[str, int] = {}
    outer = [path for path in routes if not _INNER_PAGE.match(path)]
    for number, paths in enumerate((located, outer, linked)):
        if number < 2 or len(rank) < FEW_PAGES:
            for path in paths:
                rank.setdefault(path, number)
    views = {path: view_of(path) for path in rank if path not in first}
    alike: Counter[tuple[int, str]] = Counter()
    asked = first
    unasked: dict[str, str] = {}

    def telling(path: str) -> tuple[int, int, int]:
        return rank[path], _parameters(path, views[path]), path.strip("/").count("/")

    for path in sorted(views, key=telling):
        group = _group(path, views[path], rank[path])
        if _CHANGES.search(path):
            unasked[path] = CHANGES
        elif alike[group] >= (MOST_AT_TOP if group == _TOP else MOST_ALIKE):
            unasked[path] = ALIKE
        else:
            alike[group] += 1
            asked.append(path)
    return Choice(asked, unasked)


_TOP = (2, "")


def _parameters(path: str, view: View) -> int:
    query = path.partition("?")[2]
    return view.parameters + (query.count("&") + 1 if query else 0)


def _group(path: str, view: View, rank: int) -> tuple[int, str]:
    """Pages of one view are alike; routes without parameters, whose view is unknown, are not."""
    if view.name:
        return 0, view.name
    return (1, path) if rank == 1 else (2, path.partition("?")[0].rstrip("/").rpartition("/")[0])
