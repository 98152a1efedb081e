"""The site as a WSGI application: Django configured for the store, three pages, and the headers of every answer."""

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
        """Write the kind of a failure to stderr, only if it is the site's own (status 500 or more)."""
        if record.levelno >= logging.ERROR and getattr(record, "status_code", 0) >= 500:
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "an error"
            sys.stderr.write(f"{record.getMessage()}: {kind}\n")


def results_site(store_url: str | None) -> Callable[..., Iterable[bytes]]:
    """Return the site over the store at ``store_url``; call it once per process.

    The site only reads the store. Raises StoreError if the store cannot be opened.
    """
    options: dict[str, Any] = {
        "INSTALLED_APPS": ["stackrace.store"],
        "ROOT_URLCONF": "stackrace.features.web.site",
        # the site is served on the loopback address, so no genuine request has another name
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
    # the browser shows errors in its requests; a traceback in the terminal would help nobody
    logging.getLogger("django").addHandler(_OneLine())
    open_store(store_url).close()

    site: Callable[..., Iterable[bytes]] = WSGIHandler()
    return site


_STYLE = re.compile(rb"<style>([^<]*)</style>", re.DOTALL)

_Respond = Callable[[HttpRequest], HttpResponse]


def _guarded(respond: _Respond) -> _Respond:
    """Return the Django middleware that cleans pages and sets the security headers.

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
    """Return a policy that allows only the page's own style sheet: the first, before any text of others."""
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
    # a fetched race may contain characters that no encoding has
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
