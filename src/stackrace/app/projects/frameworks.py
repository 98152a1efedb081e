"""Names under which Python frameworks create applications, and the interfaces of these."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..app import EntryKind

_WSGI, _ASGI = EntryKind.WSGI, EntryKind.ASGI

_CLASSES = {
    _WSGI: {
        "apiflask": ("APIFlask",),
        "bottle": ("Bottle", "app", "default_app"),
        "cherrypy": ("Application",),
        "dash": ("Dash",),
        "django": ("WSGIHandler", "get_wsgi_application"),
        "eve": ("Eve",),
        "falcon": ("API", "App"),
        "flask": ("Flask",),
        "flask_openapi3": ("OpenAPI",),
        "morepath": ("App",),
        "pecan": ("make_app",),
        "webapp2": ("WSGIApplication",),
        "werkzeug": ("DispatcherMiddleware",),
    },
    _ASGI: {
        "blacksheep": ("Application",),
        "channels": ("ProtocolTypeRouter",),
        "connexion": ("AsyncApp", "FlaskApp"),
        "django": ("ASGIHandler", "get_asgi_application"),
        "emmett": ("App",),
        "esmerald": ("Esmerald",),
        "fastapi": ("FastAPI",),
        "fasthtml": ("FastHTML", "fast_app"),
        "litestar": ("Litestar",),
        "quart": ("Quart",),
        "sanic": ("Sanic",),
        "socketio": ("ASGIApp",),
        "starlette": ("Starlette",),
        "starlite": ("Starlite",),
    },
}
"""Callables that make an application, by interface and top-level package."""


@dataclass(frozen=True, slots=True)
class Framework:
    """Framework, or bare interface, that an application is made with."""

    kind: EntryKind
    title: str
    """Title of the framework or of the interface."""

    @property
    def attribute(self) -> str:
        """The application's attribute that servers call; empty if they call the application itself."""
        return "server" if self.title == "Dash" else ""


_TITLES = {"fasthtml": "FastHTML", "fastapi": "FastAPI", "flask_openapi3": "Flask", "apiflask": "Flask"}

FACTORIES = ("create_app", "make_app", "create_application", "make_application", "build_app", "get_app")
"""Usual names of functions that create an application."""

_METHODS = {"make_wsgi_app": Framework(_WSGI, "Pyramid"), "wsgifunc": Framework(_WSGI, "web.py")}
"""Methods that return an application, on objects that are no applications themselves."""

_TO_ASGI = frozenset({"WsgiToAsgi", "WSGIMiddleware", "WsgiToAsgiInstance"})

OWN_SERVERS = {
    "aiohttp": re.compile(rb"from aiohttp import .{0,200}\bweb\b|aiohttp\.web"),
    "gradio": re.compile(rb"^import gradio|^from gradio", re.MULTILINE),
    "robyn": re.compile(rb"^from robyn import", re.MULTILINE),
    "streamlit": re.compile(rb"^import streamlit", re.MULTILINE),
    "tornado": re.compile(rb"tornado\.web"),
}
"""Frameworks that run only on their own server, without WSGI or ASGI, and the pattern of their use."""

_PACKAGES = {*_CLASSES[_WSGI], *_CLASSES[_ASGI]} - {"django"}
_WORDS = sorted({*_PACKAGES, *_METHODS, "start_response", "receive"})
# Django is mentioned everywhere in its own projects
_DJANGO = ("get_[aw]sgi_application", "[AW]SGIHandler")
_FUNCTIONS = "def (?:app|application)"
MENTIONED = re.compile(rb"\b(" + "|".join([*_WORDS, *_DJANGO, _FUNCTIONS]).encode() + rb")\b")
"""Words of which a file that defines an application contains at least one, unless another file defines it."""


def framework_of(dotted: str, method: str = "") -> Framework | None:
    """Return the framework whose application a call of ``dotted``, or ``method`` of any object, creates; else None.

    >>> framework_of("fastapi.applications.FastAPI").title, framework_of("", "make_wsgi_app").title
    ('FastAPI', 'Pyramid')
    """
    package, _, rest = dotted.partition(".")
    name = rest.rpartition(".")[2]
    if package == "falcon" and rest.startswith("asgi."):
        return Framework(_ASGI, "Falcon") if name == "App" else None
    for kind, packages in _CLASSES.items():
        if name in packages.get(package, ()):
            return Framework(kind, _TITLES.get(package, package.capitalize()))
    return _METHODS.get(method)


def wrapped_kind(wrapper: str, kind: EntryKind) -> EntryKind:
    """Return the interface of an application of ``kind`` after ``wrapper`` has wrapped it."""
    return _ASGI if wrapper.rpartition(".")[2] in _TO_ASGI else kind
