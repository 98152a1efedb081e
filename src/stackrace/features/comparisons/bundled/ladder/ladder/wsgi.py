"""The WSGI application, without a framework, so that only the server and the lookup cost anything. PEP 3333."""

import os
from importlib import import_module

from .errors import LadderError, missing_driver

RUNGS = ("string", "memcached", "mysql-c", "mysqldb", "sqlalchemy", "mix")
FILE = "/static/hello.txt"


def _lookup_of(rung):
    """Return the lookup of a rung. If its driver is missing, the lookup raises LadderError; other rungs still
    work."""
    try:
        return import_module(f".rungs.{rung.replace('-', '_')}", __package__).lookup
    except ImportError as error:
        reason = str(error)

    def lookup():
        raise missing_driver(f"/{rung}/", reason)

    return lookup


def lookups(environ=os.environ):
    """Return the lookups by their paths, with their drivers.

    The drivers are loaded with the app: otherwise a hundred processes would load them during a measurement and
    distort it. ``LADDER_RUNGS`` limits the rungs to the listed ones, separated by commas: five hundred processes
    that serve a string need no drivers of databases.
    """
    named = environ.get("LADDER_RUNGS")
    rungs = RUNGS if named is None else named.split(",")
    if unknown := set(rungs) - set(RUNGS):
        raise LadderError(f"LADDER_RUNGS names {', '.join(sorted(unknown))}; the rungs are {', '.join(RUNGS)}")
    by_path = {f"/{rung}/": _lookup_of(rung) for rung in rungs}
    return {**by_path, FILE: import_module(".rungs.file", __package__).lookup}


LOOKUPS = lookups()


def application(environ, start_response):
    """Answer with the result of the path's rung and a newline: 13 bytes on every rung."""
    lookup = LOOKUPS.get(environ.get("PATH_INFO", ""))
    if lookup is None:
        return _answer(start_response, "404 Not Found", "The rungs are " + " ".join(LOOKUPS))
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return _answer(start_response, "405 Method Not Allowed", "A lookup is a GET", ("Allow", "GET, HEAD"))
    return _answer(start_response, "200 OK", lookup())


def _answer(start_response, status, text, *headers):
    body = (text + "\n").encode()
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), *headers])
    return [body]
