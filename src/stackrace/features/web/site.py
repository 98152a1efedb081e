"""The site as a WSGI application: Django configured for the store, and the headers of every answer."""

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
from django.http import HttpRequest, HttpResponse

from ...base.text import printable
from ...report import html as report_html
from ...store import open_store

_TEMPLATES = Path(__file__).with_name("templates")
_STYLES = Path(report_html.__file__).parent


class _OneLine(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write the kind of a failure to stderr, only if it is the site's own (status 500 or more)."""
        if record.levelno >= logging.ERROR and getattr(record, "status_code", 0) >= 500:
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "an error"
            sys.stderr.write(f"{record.getMessage()}: {kind}\n")


def results_site(store_url: str | None, *, edit: bool = False) -> Callable[..., Iterable[bytes]]:
    """Return the site over the store at ``store_url``; call it once per process.

    The site only reads the store, except that with ``edit`` races can be named. Raises StoreError if the store
    cannot be opened, or not be written although it must.
    """
    here = "stackrace.features.web"
    options: dict[str, Any] = {
        "INSTALLED_APPS": ["stackrace.store"],
        "ROOT_URLCONF": f"{here}.views",
        # the site is served on the loopback address, so no genuine request has another name
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"],
        "MIDDLEWARE": [
            f"{here}.site.guarded",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
        ],
        # sites on other ports of this address see the same cookies
        "CSRF_COOKIE_NAME": "stackrace_csrf",
        "CSRF_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SAMESITE": "Strict",
        "TEMPLATES": [
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [_TEMPLATES, _STYLES],
                "OPTIONS": {},
            }
        ],
        "LOGGING_CONFIG": None,
        "USE_I18N": False,
        "USE_TZ": True,
        "STACKRACE_STORE": store_url,
        "STACKRACE_EDIT": edit,
    }
    settings.configure(**options)
    # the browser shows errors in its requests; a traceback in the terminal would help nobody
    logging.getLogger("django").addHandler(_OneLine())
    with open_store(store_url) as store:
        if edit:
            store.need_writable()

    site: Callable[..., Iterable[bytes]] = WSGIHandler()
    return site


_STYLE = re.compile(rb"<style>([^<]*)</style>", re.DOTALL)
_SCRIPT = re.compile(rb'<script type="module">([^<]*)</script>', re.DOTALL)

_Respond = Callable[[HttpRequest], HttpResponse]


def guarded(respond: _Respond) -> _Respond:
    """Return the Django middleware that cleans pages and sets the security headers.

    Source: Content Security Policy Level 3; Fetch Standard, X-Content-Type-Options; RFC 7034.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = respond(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.content = printable(response.content.decode("utf-8", "replace"), words=False).encode()
        response["Content-Security-Policy"] = _policy(b"" if response.streaming else response.content)
        response["X-Content-Type-Options"] = "nosniff"
        response["X-Frame-Options"] = "DENY"
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        # with no-referrer, browsers send forms from nowhere (Fetch Standard, "Origin"), and Django refuses them
        response["Referrer-Policy"] = "same-origin"
        response["Cache-Control"] = "no-store"
        return response

    return answer


def _policy(page: bytes) -> str:
    """Return a policy that allows only the page's own style sheet and script: the first, before any text of others.

    They ask only this site.
    """
    return (
        f"default-src 'none'; style-src {_digest(_STYLE, page)}; script-src {_digest(_SCRIPT, page)}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def _digest(element: re.Pattern[bytes], page: bytes) -> str:
    """Return the source expression for the content of the first ``element``, which browsers hash with their line
    ends."""
    found = element.search(page)
    if found is None:
        return "'none'"
    digest = hashlib.sha256(found[1].replace(b"\r\n", b"\n")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
