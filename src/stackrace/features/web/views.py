"""The site's pages: the list of races, one race's report, one race's document."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string

from ...base.errors import StoreError
from ...base.text import printable
from ...race.results.race import Race
from ...report.exporter import Format, render
from ...report.result import standing_of
from ...store import open_store

__all__ = ["document", "index", "report"]

_MOST_RACES = 200


def index(request: HttpRequest) -> HttpResponse:
    """List the races, newest first."""
    with open_store(settings.STACKRACE_STORE) as store:
        races = store.list(_MOST_RACES)
    # what was fetched may hold what no encoding has
    return HttpResponse(printable(render_to_string("index.html", {"races": races}, request)))


def report(request: HttpRequest, race_id: str) -> HttpResponse:
    """Show the report of one race, the same page as ``stackrace report --html`` writes."""
    race = _race(race_id)
    return HttpResponse(render(race, standing_of(race), Format.HTML))


def document(request: HttpRequest, race_id: str) -> HttpResponse:
    """Give the JSON document of one race."""
    race = _race(race_id)
    text = render(race, standing_of(race), Format.JSON)
    return HttpResponse(text, content_type="application/json")


def _race(race_id: str) -> Race:
    with open_store(settings.STACKRACE_STORE) as store:
        try:
            return store.load(race_id)
        except StoreError as error:
            raise Http404(error.message) from error
