"""DATABASE_URL as Django's settings want it.

A parser of our own: a package for three schemes would be one more thing to install in every environment.
"""

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

ENGINES = {
    "postgresql": "django.db.backends.postgresql",
    "postgres": "django.db.backends.postgresql",
    "mysql": "django.db.backends.mysql",
    "sqlite": "django.db.backends.sqlite3",
}


def database(environ=os.environ):
    """Return the settings of the default database.

    ``DATABASE_URL`` decides; without it ``APP_DATA`` is the folder of a SQLite file. There is no default
    folder, because the only one at hand would lie inside the installed package.
    """
    if url := environ.get("DATABASE_URL"):
        return parse(url)
    if folder := environ.get("APP_DATA"):
        return {"ENGINE": ENGINES["sqlite"], "NAME": Path(folder) / "pages.sqlite3"}
    raise ImproperlyConfigured("Set DATABASE_URL, or APP_DATA to a writable folder for the SQLite file.")


def parse(url):
    """Turn ``scheme://user:password@host:port/name`` into settings; ``?host=`` or ``?unix_socket=`` names a socket.

    >>> parse("postgresql://u:p%40ss@db:5433/shop")["PASSWORD"]
    'p@ss'
    >>> parse("sqlite:////var/tmp/pages.sqlite3")["NAME"]
    '/var/tmp/pages.sqlite3'
    """
    parts = urlsplit(url)
    if parts.scheme not in ENGINES:
        raise ImproperlyConfigured(f"DATABASE_URL has the scheme {parts.scheme!r}; known: {', '.join(ENGINES)}.")
    query = dict(parse_qsl(parts.query))
    socket = query.get("host") or query.get("unix_socket")
    return {
        "ENGINE": ENGINES[parts.scheme],
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": socket or unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
    }
