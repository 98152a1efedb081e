"""Find the interface of an app's object, and facts for its race file: pages, static folders, services.

Frameworks are recognised by the attributes of their applications: no framework is imported here.

Source: PEP 3333; https://asgi.readthedocs.io/en/latest/specs/main.html (Applications); how Uvicorn and asgiref tell
ASGI applications of one call from those of two.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .messages import Database, ObjectReport, Survey

_ENTRY = "stackrace_entry.py"


def object_report(application: Any) -> ObjectReport:
    """Return interface and full type name of ``application``, without Stackrace's own wrappers around it."""
    while getattr(getattr(application, "__code__", None), "co_filename", "") == _ENTRY:
        application = application.__wrapped__
    kind = type(application)
    return ObjectReport(_interface_of(application), f"{kind.__module__}.{kind.__qualname__}")


def _interface_of(application: Any) -> Literal["wsgi", "asgi", "factory", "none", ""]:
    """Return the interface of ``application``, by its number of arguments and by whether its result is awaited.

    The interface is empty if these do not decide it: then a call must show it.
    """
    if not callable(application):
        return "none"
    try:
        signature = inspect.signature(application)
    except (TypeError, ValueError):
        return ""
    takes = [number for number in range(4) if _takes_arguments(signature, number)]
    if _is_awaited(application):
        return "asgi" if 3 in takes else "none"
    if 2 in takes and 3 in takes:
        return ""
    if 3 in takes:
        return "asgi"
    if 2 in takes:
        return "wsgi"
    if 1 in takes:
        # an ASGI application of two calls takes the scope alone, but many other objects take one argument, too
        return ""
    is_function = inspect.isfunction(application) or inspect.isclass(application)
    return "factory" if 0 in takes and is_function else "none"


def _takes_arguments(signature: inspect.Signature, number: int) -> bool:
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


_MOST_PAGES = 200
_MOST_WRAPPERS = 10
_WRAPPED = ("__wrapped__", "app", "application", "_app", "wsgi_app", "asgi_app")
_MARKS = ("<", "{", "(", "*", "[", "\\", "?")
"""Signs of a parameter in the path of a route."""


class View(NamedTuple):
    """The view that answers a path; the default stands for an unknown view."""

    name: str = ""
    parameters: int = 0
    """Number of parts of the path that are passed to the view."""


def survey(application: Any, is_django: bool) -> Survey:
    """Return the pages, static folders and services of ``application``, as far as it tells them."""
    routed = _unwrapped(application)
    paths = tuple(dict.fromkeys(_django_paths() if is_django else _framework_paths(routed)))
    settings: Any = import_module("django.conf").settings if is_django else None
    return Survey(
        pages=tuple(filter(_is_fixed_path, paths))[:_MOST_PAGES],
        routes=tuple(filter(_is_route, paths))[:_MOST_PAGES],
        static=dict(_static_folders(routed)),
        static_root=str(getattr(settings, "STATIC_ROOT", None) or ""),
        databases=tuple(_databases(settings)) if is_django else (),
        caches=tuple(str(cache.get("BACKEND", "")) for cache in settings.CACHES.values()) if is_django else (),
    )


_WRAPPERS = ("functools.partial", "ninja.operation.sync_view_wrapper", "ninja.operation.async_view_wrapper")
"""Names of views that say nothing, as Django gives them: each route is a view of its own."""


def view_of(application: Any, is_django: bool) -> Callable[[str], View]:
    """Return a function that returns the view of a path, or ``View()`` if framework or path are unknown."""
    routed = _unwrapped(application)

    def django_view(path: str) -> View:
        match = import_module("django.urls").resolve(path.partition("?")[0])
        # one function stands for all views of some frameworks
        name = f"{match._func_path} {match.route}" if match._func_path in _WRAPPERS else match._func_path
        return View(name, len(match.args) + len(match.kwargs))

    def werkzeug_view(path: str) -> View:
        endpoint, arguments = routed.url_map.bind("localhost").match(path.partition("?")[0])
        return View(str(endpoint), len(arguments))

    known = django_view if is_django else werkzeug_view if hasattr(routed, "url_map") else None

    def view(path: str) -> View:
        try:
            return known(path) if known else View()
        except Exception:  # no route, or another kind of route
            return View()

    return view


def is_debug(application: Any, is_django: bool) -> bool:
    """Tell whether an application of Django, Flask, Quart, Starlette or FastAPI says that it is in debug mode."""
    if is_django:
        return bool(import_module("django.conf").settings.DEBUG)
    return getattr(_unwrapped(application), "debug", False) is True


def _unwrapped(application: Any) -> Any:
    for _ in range(_MOST_WRAPPERS):
        if any(hasattr(application, name) for name in ("url_map", "routes", "_router")):
            return application
        inner = next((getattr(application, name) for name in _WRAPPED if hasattr(application, name)), None)
        if inner is None:
            # a bound method, as Flask's wsgi_app, belongs to the application
            inner = getattr(application, "__self__", None)
        if inner is None:
            return application
        application = inner
    return application


def _is_fixed_path(path: str) -> bool:
    return path.startswith("/") and path.isascii() and not any(mark in path for mark in (*_MARKS, " "))


PARAMETER = re.compile(r"(<[^<>]*>|\{[^{}]*\})")
"""Parameter in the path of a route."""


def _is_route(path: str) -> bool:
    """Tell whether a path has parameters that a user can fill in; the format of an answer is none of them."""
    plain = PARAMETER.sub("", path)
    return plain != path and _is_fixed_path(plain) and "<format>" not in path


def _django_paths() -> Iterator[str]:
    urls: Any = import_module("django.urls")
    try:
        yield from _django_level(urls.get_resolver().url_patterns, "/")
    except Exception:  # a broken URLconf shows itself, with its traceback, in the answers
        return


def _django_level(patterns: Any, prefix: str) -> Iterator[str]:
    for entry in patterns:
        text = pattern_of(entry)
        path = prefix + (_with_names(text.lstrip("^").rstrip("$")) if _is_regex(entry) else text)
        if hasattr(entry, "url_patterns"):
            yield from _django_level(entry.url_patterns, path)
        else:
            yield path


_TOKEN = re.compile(r"\\.|\[\^?\]?[^\]]*(?:\]|\Z)|\(\?P<(\w+)>|.", re.DOTALL)


def _with_names(regex: str) -> str:
    r"""Return a regular expression as a path, with ``<name>`` in place of each group.

    >>> _with_names(r"items/(?P<pk>[^/.]+)/(\d(\d))/\Z")
    'items/<pk>/<value>/'
    """
    path, depth = "", 0
    for token in _TOKEN.finditer(re.sub(r"\\Z\Z", "", regex)):
        word = token[0]
        if word[0] == "(":
            path += "" if depth else f"<{token[1] or 'value'}>"
            depth += 1
        elif word == ")":
            depth -= 1
        elif not depth:
            path += word
    return path


def pattern_of(entry: Any) -> str:
    """Return the pattern of an entry of a URLconf; before Django 2.0 all are regular expressions."""
    return str(entry.pattern) if hasattr(entry, "pattern") else str(entry.regex.pattern)


def _is_regex(entry: Any) -> bool:
    return type(getattr(entry, "pattern", None)).__name__ in ("RegexPattern", "NoneType")


def _framework_paths(application: Any) -> Iterator[str]:
    try:
        if hasattr(application, "url_map"):
            yield from _werkzeug_paths(application.url_map)
        elif isinstance(getattr(application, "routes", None), (list, tuple)):
            yield from _routed_paths(application.routes, "")
        elif "falcon" in sys.modules and hasattr(application, "_router"):
            inspect: Any = import_module("falcon.inspect")
            for route in inspect.inspect_routes(application):
                if any(method.method == "GET" for method in route.methods):
                    yield route.path
    except Exception:  # a survey is a help, never a reason to fail
        return


def _werkzeug_paths(url_map: Any) -> Iterator[str]:
    for rule in url_map.iter_rules():
        path, is_complete = str(rule.rule), not rule.arguments - set(rule.defaults or ())
        # a host has arguments, too
        if "GET" in (rule.methods or ()) and (is_complete or PARAMETER.search(path)):
            yield path


def _routed_paths(routes: Any, prefix: str) -> Iterator[str]:
    """Yield the paths of GET routes.

    Starlette, FastAPI and Litestar have ``path`` and ``methods``, Bottle has ``rule`` and ``method``.
    """
    for route in _leaves(routes):
        path = str(getattr(route, "path", getattr(route, "rule", "")))
        inner = getattr(route, "routes", None)
        methods = getattr(route, "methods", None) or [getattr(route, "method", "")]
        if inner:
            yield from _routed_paths(inner, prefix + path)
        elif "GET" in methods and not _is_documentation(route):
            yield prefix + path or "/"


def _leaves(routes: Any) -> Iterator[Any]:
    """Yield routes with their full paths, including those of routers that FastAPI includes by reference."""
    for route in routes:
        if hasattr(route, "effective_candidates"):
            yield from _leaves(route.effective_candidates())
        else:
            yield getattr(route, "starlette_route", None) or route


def _is_documentation(route: Any) -> bool:
    return str(getattr(getattr(route, "endpoint", None), "__module__", "")).startswith("fastapi.")


def _static_folders(application: Any) -> Iterator[tuple[str, Path]]:
    folder, prefix = getattr(application, "static_folder", None), getattr(application, "static_url_path", None)
    if isinstance(folder, str) and isinstance(prefix, str) and os.path.isdir(folder) and prefix.strip("/"):  # noqa: PTH112
        yield "/" + prefix.strip("/") + "/", Path(os.path.abspath(folder))  # noqa: PTH100
    routes = getattr(application, "routes", None)
    for route in routes if isinstance(routes, (list, tuple)) else ():
        directory = getattr(getattr(route, "app", None), "directory", None)
        path = str(getattr(route, "path", "")).strip("/")
        is_folder = hasattr(route, "routes")  # a route to StaticFiles is one file, only a mount is a folder
        if is_folder and directory and path and os.path.isdir(directory):  # noqa: PTH112
            yield "/" + path + "/", Path(os.path.abspath(directory))  # noqa: PTH100


def _databases(settings: Any) -> Iterator[Database]:
    for database in settings.DATABASES.values():
        engine = str(database.get("ENGINE", "")).rpartition(".")[2]
        yield Database(engine, _address(database.get("HOST"), database.get("PORT")))


def _address(host: Any, port: Any) -> str:
    return f"{host}:{port}" if host and port else str(host or "")
