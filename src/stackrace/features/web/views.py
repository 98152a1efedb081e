"""Pages of the site: races as a list, one race, its events and documents, two races, results of many races."""

# mypy: allow-untyped-decorators
# (Django carries no annotations)

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.conf import settings
from django.db import Error, IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST, require_safe

from ...api.stored_results import result_names, result_page
from ...base.errors import InputError, StackraceError, StoreError
from ...base.text import printable
from ...cli.showing import unfinished_note
from ...extensions import ResultKind, StoredResults, declared
from ...report.exporter import Format, kind_of, render
from ...report.html.page import draw_page
from ...report.merged_standing import standing_of
from ...store import open_store
from ...store.lookup import Summary
from ...store.race_lock import is_racing
from . import live_page
from .side_by_side import compared

_MOST_RACES = 100

_DOCUMENTS = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv; charset=utf-8",
    Format.MARKDOWN: "text/plain; charset=utf-8",
}


def _page(request: HttpRequest, template: str, values: dict[str, Any], status: int = 200) -> HttpResponse:
    # a fetched race may contain characters that no encoding has
    text = printable(render_to_string(template, values, request), words=False)
    return HttpResponse(text, status=status)


def _report(page: str, below: str = "") -> HttpResponse:
    """Return a self-contained report as a page of the site, with ``below`` at its end.

    Text of others is escaped in it, so the first tags are its own.
    """
    for tag, own in (
        ("</style>", f"{render_to_string('site.css')}</style>\n{render_to_string('icon.html')}"),
        ("<body>", f"<body>\n{render_to_string('bar.html')}"),
        ("<header>", '<header id="result" tabindex="-1">'),
        ("</body>", f"{below}</body>"),
    ):
        page = page.replace(tag, own, 1)
    return HttpResponse(printable(page, words=False))


_View = Callable[..., HttpResponse]


def _explained(respond: _View) -> _View:
    """Return a view that shows a StackraceError as a page."""

    @wraps(respond)
    def answer(request: HttpRequest, **given: str) -> HttpResponse:
        try:
            return respond(request, **given)
        except StackraceError as error:
            return _trouble(request, error, _status_of(error, request))

    return answer


def _status_of(error: StackraceError, request: HttpRequest) -> int:
    if isinstance(error.__cause__, Error) and not isinstance(error.__cause__, IntegrityError):
        return 503
    return 404 if isinstance(error, StoreError) and request.method != "POST" else 400


_HEADINGS = {404: "Not here", 503: "The store does not answer"}


def _trouble(request: HttpRequest, error: StackraceError, status: int) -> HttpResponse:
    values = {"error": error, "heading": _HEADINGS.get(status, "Not done")}
    return _page(request, "trouble.html", values, status)


@require_safe
@_explained
def _index(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()
    words = query.lower().split()
    with open_store(settings.STACKRACE_STORE) as store:
        known, others = store.list(None), result_names(store)
    found = [race for race in known if _matches(words, *_searched(race))]
    results = ((kind.title, _links(kind, names, words)) for kind, names in others.items())
    values = {
        "query": query,
        "races": [_line(race) for race in found[:_MOST_RACES]],
        "known": len(known),
        "found": len(found),
        "results": [(title, links) for title, links in results if links],
    }
    return _page(request, "index.html", values)


def _matches(words: list[str], *texts: str) -> bool:
    text = " ".join(texts).lower()
    return all(word in text for word in words)


def _searched(race: Summary) -> tuple[str, ...]:
    return (race.id, race.name, race.app, race.started_at, _kind(race), _state(race), *race.stacks)


def _line(race: Summary) -> dict[str, Any]:
    begun = race.started_at[:16].replace("T", " ")
    return {"race": race, "kind": _kind(race), "state": _state(race), "begun": begun}


def _kind(race: Summary) -> str:
    return next((kind.part for kind in declared(ResultKind) if kind.part in race.parts), "race")


def _state(race: Summary) -> str:
    if race.ending is not None:
        return race.ending.value
    return "running" if is_racing(race.id) else "unfinished"


def _links(kind: StoredResults, names: Iterable[str], words: list[str]) -> list[tuple[str, str]]:
    """Return the names that match all ``words``, each with its address; other characters fit into no address."""
    page = reverse("result", args=[kind.name])
    shown = (name for name in names if name.isprintable() and _matches(words, kind.title, name))
    return [(name, f"{page}?{urlencode({'of': name})}") for name in shown]


@require_safe
@_explained
def _race(request: HttpRequest, race_id: str) -> HttpResponse:
    with open_store(settings.STACKRACE_STORE) as store:
        found = store.find(race_id)
        # before the race is read: a report has the end of its race
        moves = "so-far" not in request.GET and not live_page.is_over(store.progress(found).ending, found)
        race = store.load(found)
        name, note = store.name_of(found), unfinished_note(race, store)
    if moves:
        return _page(request, "live.html", {"race": race, "is_racing": is_racing(found)})
    page = render(race, standing_of(race) if kind_of(race) is None else None, Format.HTML)
    values = {"race": race, "name": name, "note": note, "edit": settings.STACKRACE_EDIT, "forms": list(_DOCUMENTS)}
    return _report(page, render_to_string("footer.html", values, request))


@require_GET
def _events(request: HttpRequest, race_id: str) -> StreamingHttpResponse:
    events = live_page.events(settings.STACKRACE_STORE, race_id)
    return StreamingHttpResponse(events, content_type="text/event-stream")


@require_safe
@_explained
def _document(request: HttpRequest, race_id: str, form: str) -> HttpResponse:
    if form not in _DOCUMENTS:
        raise InputError(f"a race has no form {form!r}; there are {', '.join(_DOCUMENTS)}")
    with open_store(settings.STACKRACE_STORE) as store:
        race = store.load(race_id)
    return HttpResponse(render(race, standing_of(race), form), content_type=_DOCUMENTS[Format(form)])


@require_safe
@_explained
def _compare(request: HttpRequest) -> HttpResponse:
    chosen = request.GET.getlist("race")
    if len(chosen) != 2:
        raise InputError(f"two races are compared; {len(chosen)} were chosen. Go back and choose two")
    with open_store(settings.STACKRACE_STORE) as store:
        first, second = (store.load(each) for each in chosen)
    stacks = {*first.stacks, *second.stacks}
    return _report(draw_page(compared(first, second), stacks=stacks))


@require_safe
@_explained
def _result(request: HttpRequest, kind: str) -> HttpResponse:
    with open_store(settings.STACKRACE_STORE) as store:
        return _report(result_page(kind, request.GET.get("of", ""), store))


@require_POST
@_explained
def _name(request: HttpRequest, race_id: str) -> HttpResponse:
    if not settings.STACKRACE_EDIT:
        error = InputError("this site only reads; to name races, start it with: stackrace web --edit")
        return _trouble(request, error, 403)
    with open_store(settings.STACKRACE_STORE) as store:
        store.name(race_id, request.POST.get("name", ""))
    return HttpResponseRedirect(reverse("race", args=[race_id]))


urlpatterns = [
    path("", _index, name="index"),
    path("races/<slug:race_id>/", _race, name="race"),
    path("races/<slug:race_id>/events", _events, name="events"),
    path("races/<slug:race_id>/name", _name, name="name"),
    path("races/<slug:race_id>.<slug:form>", _document, name="document"),
    path("compare/", _compare, name="compare"),
    path("results/<slug:kind>/", _result, name="result"),
]
