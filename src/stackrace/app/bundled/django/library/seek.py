"""Pages of a long list that cost the same at its end as at its start.

Django's Paginator counts all rows for every page and skips the earlier ones with OFFSET: the database reads what
it then throws away. Here a page begins after a row (``?after=ID``), before one (``?before=ID``) or at the end of
the list (``?last=1``), which an index finds at once; one row more than is shown tells whether the list goes on.
Source: M. Winand, "SQL Performance Explained", chapter "Partial Results", on the seek method.
"""

from dataclasses import dataclass

from django.http import Http404

SIZE = 25
MOST = 2**63 - 1
"""The largest id that the databases can compare with."""


@dataclass(frozen=True)
class Seek:
    """One page, newest rows first. ``newer`` and ``older`` are the queries of its neighbours, empty at an end."""

    rows: list
    newer: str
    older: str


def seek(queryset, asked, size=SIZE):
    """Return the page of ``queryset`` that the query parameters ``asked`` name; Http404 if they name none."""
    if "last" in asked:
        rows, more = _cut(queryset.order_by("id"), size)
        return _page(rows[::-1], newer=more, older=False)
    if "before" in asked:
        rows, more = _cut(queryset.filter(id__gt=_id(asked["before"])).order_by("id"), size)
        return _page(rows[::-1], newer=more, older=True)
    if "after" in asked:
        rows, more = _cut(queryset.filter(id__lt=_id(asked["after"])).order_by("-id"), size)
        return _page(rows, newer=True, older=more)
    rows, more = _cut(queryset.order_by("-id"), size)
    return _page(rows, newer=False, older=more)


def _cut(queryset, size):
    rows = list(queryset[: size + 1])
    return rows[:size], len(rows) > size


def _page(rows, *, newer, older):
    if not rows:
        raise Http404("no rows there")
    return Seek(
        rows=rows,
        newer=f"?before={rows[0].pk}" if newer else "",
        older=f"?after={rows[-1].pk}" if older else "",
    )


def _id(text):
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise Http404("no such row")
    return min(int(text), MOST)
