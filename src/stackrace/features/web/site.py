"""The site as a WSGI application: Django set up for the store, three pages, and what every answer goes out with."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import path

from ...base.errors import StoreError
from ...base.text import printable
from ...race.results.race import Race
from ...report.exporter import Format, render
from ...report.merged_standing import standing_of
from ...store import open_store

_TEMPLATES = Path(__file__).with_name("templates")


class _OneLine(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write the failure's kind, for a fault of ours only."""
        if record.levelno >= logging.ERROR and getattr(record, "status_code", 0) >= 500:
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "an error"
            sys.stderr.write(f"{record.getMessage()}: {kind}\n")


def results_site(store_url: str | None) -> Callable[..., Iterable[bytes]]:
    """Return the site over the store at ``store_url``; call it once per process.

    It only reads. Raises StoreError when the store cannot be opened.
    """
    options: dict[str, Any] = {
        "INSTALLED_APPS": ["stackrace.store"],
        "ROOT_URLCONF": "stackrace.features.web.site",
        # served on the loopback address, so no other name can be asked for in earnest
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"],
        "MIDDLEWARE": ["stackrace.features.web.site._guarded", "django.middleware.common.CommonMiddleware"],
        "TEMPLATES": [
            {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [_TEMPLATES], "OPTIONS": {}}
        ],
        "LOGGING_CONFIG": None,
        "USE_I18N": False,
        "USE_TZ": True,
        "STACKRACE_STORE": store_url,
    }
    settings.configure(**options)
    # the browser is told what is wrong with its request; a traceback tells the terminal's reader nothing
    logging.getLogger("django").addHandler(_OneLine())
    open_store(store_url).close()

    site: Callable[..., Iterable[bytes]] = WSGIHandler()
    return site


_STYLE = re.compile(rb"<style>([^<]*)</style>", re.DOTALL)

_Respond = Callable[[HttpRequest], HttpResponse]


def _guarded(respond: _Respond) -> _Respond:
    """Return Django's middleware that cleans pages and sets the headers which browsers obey.

    Source: Content Security Policy Level 3; Fetch Standard, X-Content-Type-Options; RFC 7034.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = respond(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.content = printable(response.content.decode("utf-8", "replace"), words=False).encode()
        response["Content-Security-Policy"] = _policy(response.content)
        response["X-Content-Type-Options"] = "nosniff"
        response["X-Frame-Options"] = "DENY"
        response["Referrer-Policy"] = "no-referrer"
        return response

    return answer


def _policy(page: bytes) -> str:
    """Allow the page's own style sheet, which stands in its head before anything foreign, and nothing else."""
    style = _STYLE.search(page)
    allowed = "'none'"
    if style is not None:
        # browsers hash a style sheet with the line ends that they read
        digest = hashlib.sha256(style[1].replace(b"\r\n", b"\n")).digest()
        allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        f"default-src 'none'; style-src {allowed}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


_MOST_RACES = 200


def _index(request: HttpRequest) -> HttpResponse:
    with open_store(settings.STACKRACE_STORE) as store:
        races = store.list(_MOST_RACES)
    # what was fetched may hold what no encoding has
    return HttpResponse(printable(render_to_string("index.html", {"races": races}, request), words=False))


def _report(request: HttpRequest, race_id: str) -> HttpResponse:
    race = _race(race_id)
    return HttpResponse(render(race, standing_of(race), Format.HTML))


def _document(request: HttpRequest, race_id: str) -> HttpResponse:
    race = _race(race_id)
    text = render(race, standing_of(race), Format.JSON)
    return HttpResponse(text, content_type="application/json")


def _race(race_id: str) -> Race:
    with open_store(settings.STACKRACE_STORE) as store:
        try:
            return store.load(race_id)
        except StoreError as error:
            raise Http404(error.message) from error


urlpatterns = [
    path("", _index, name="index"),
    path("<slug:race_id>/", _report, name="report"),
    path("<slug:race_id>.json", _document, name="document"),
]
