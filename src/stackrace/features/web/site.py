"""The site as a WSGI application: Django set up for the store and three pages."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["results_site"]

_TEMPLATES = Path(__file__).with_name("templates")


class _OneLine(logging.Handler):
    """Says in one line what failed on our side."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the failure's kind, for a fault of ours only."""
        if record.levelno >= logging.ERROR and getattr(record, "status_code", 0) >= 500:
            kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "an error"
            sys.stderr.write(f"{record.getMessage()}: {kind}\n")


def results_site(store_url: str | None) -> Callable[..., Iterable[bytes]]:
    """Return the site over the store at ``store_url``; call it once per process.

    It only reads. Raises StoreError when the store cannot be opened.
    """
    from django.conf import settings

    from ...store import open_store

    options: dict[str, Any] = {
        "INSTALLED_APPS": ["stackrace.store"],
        "ROOT_URLCONF": "stackrace.features.web.urls",
        # served on the loopback address, so no other name can be asked for in earnest
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"],
        "MIDDLEWARE": ["stackrace.features.web.edge.guarded", "django.middleware.common.CommonMiddleware"],
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

    from django.core.handlers.wsgi import WSGIHandler

    site: Callable[..., Iterable[bytes]] = WSGIHandler()
    return site
