"""What an object is that is given as the app: an application of WSGI or ASGI, a factory, or something else.

Source: PEP 3333; https://asgi.readthedocs.io/en/latest/specs/main.html (Applications); how Uvicorn and asgiref tell
ASGI applications of one call from those of two.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .messages import ObjectReport

WSGI = "wsgi"
ASGI = "asgi"
FACTORY = "factory"
NONE = "none"
UNKNOWN = ""
"""What takes any arguments, or does not say which: it is called, and shows by itself what it is."""

_ENTRY = "stackrace_entry.py"


def object_report(application: Any) -> ObjectReport:
    """Return what ``application`` is, and the full name of its type; our own wrappers around it do not count."""
    while getattr(getattr(application, "__code__", None), "co_filename", "") == _ENTRY:
        application = application.__wrapped__
    kind = type(application)
    return {"interface": interface_of(application), "type": f"{kind.__module__}.{kind.__qualname__}"}


def interface_of(application: Any) -> str:
    """Return the interface of ``application``, by the arguments it takes and by whether it is to be awaited."""
    if not callable(application):
        return NONE
    try:
        signature = inspect.signature(application)
    except (TypeError, ValueError):
        return UNKNOWN
    takes = [number for number in range(4) if _binds(signature, number)]
    if _is_awaited(application):
        return ASGI if 3 in takes else NONE
    if 2 in takes and 3 in takes:
        return UNKNOWN
    if 3 in takes:
        return ASGI
    if 2 in takes:
        return WSGI
    if 1 in takes:
        # an ASGI application of two calls is called with its scope alone; so is many another thing
        return UNKNOWN
    is_function = inspect.isfunction(application) or inspect.isclass(application)
    return FACTORY if 0 in takes and is_function else NONE


def _binds(signature: inspect.Signature, number: int) -> bool:
    try:
        signature.bind(*[None] * number)
    except TypeError:
        return False
    return True


def _is_awaited(application: Any) -> bool:
    while isinstance(application, functools.partial):
        application = application.func
    if inspect.isclass(application):
        return hasattr(application, "__await__")
    if inspect.isroutine(application):
        return inspect.iscoroutinefunction(application)
    return inspect.iscoroutinefunction(type(application).__call__)
