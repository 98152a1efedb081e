"""The tiny module that every server loads, so that all of them host exactly the same callable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..base.errors import InputError
from ..stacks.setting import Interface
from .app import App, EntryKind, parse_target
from .environment import settings_module

ENTRY_MODULE = "stackrace_entry"
"""Name of the module; its file has the same name with ``.py``."""
_COUNTING = "stackrace_counting"
"""Name of the module beside the entry module that counts requests into the folder STACKRACE_COUNT."""

_RACED = "The app's entry, written by Stackrace for one launch: binds `application` and counts its requests."
_DEPLOYED = "The app as its servers load it: binds `application`."

_PATH = '''"""{said}"""

import os
import sys

ROOT = {root!r}
sys.path[:] = [ROOT, *(path for path in sys.path if path != ROOT)]
'''

# Apache's own processes get the home of Apache's user
_HOME = """
if os.environ.get("STACKRACE_HOME"):
    os.environ["HOME"] = os.environ["STACKRACE_HOME"]
"""

_SETTINGS = """os.environ["DJANGO_SETTINGS_MODULE"] = {settings!r}

from importlib import import_module

from django.conf import settings
"""

_DJANGO_WSGI = """
if settings.WSGI_APPLICATION:
    module, _, name = settings.WSGI_APPLICATION.rpartition(".")
    application = getattr(import_module(module), name)
else:
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()
"""

# ASGI_APPLICATION is not Django's own setting, so most projects only have the asgi.py that startproject made: next
# to wsgi.py, or in a package around the settings, or in the project's folder where these two are.
_DJANGO_ASGI = """
from importlib.machinery import PathFinder
from importlib.util import find_spec
from inspect import iscoroutinefunction, isfunction


def sibling_asgi(module):
    package = module.rpartition(".")[0]
    if not package:
        return "asgi" if PathFinder.find_spec("asgi", [ROOT]) else None
    try:
        found = find_spec(package + ".asgi")
    except ModuleNotFoundError:  # what WSGI_APPLICATION names need not exist where nobody uses it
        return None
    return found.name if found else sibling_asgi(package)


target = getattr(settings, "ASGI_APPLICATION", None)
if target:
    # runserver, whose setting this is, sets Django up before it imports what it names
    import django

    django.setup(set_prefix=False)
else:
    wsgi = (settings.WSGI_APPLICATION or "").rpartition(".")[0]
    module = (sibling_asgi(wsgi) if wsgi else None) or sibling_asgi({settings!r})
    target = module + ".application" if module else None
if target:
    module, _, name = target.rpartition(".")
    application = getattr(import_module(module), name)
    if not isfunction(application) and not iscoroutinefunction(getattr(type(application), "__call__", None)):
        # Channels before its version 3 has applications of two calls
        from asgiref.compatibility import guarantee_single_callable

        application = guarantee_single_callable(application)
else:
    from django.core.asgi import get_asgi_application

    application = get_asgi_application()
"""

# by its whole name: a package may have given the name of its module to something else
_CALLABLE = """
from importlib import import_module

application = import_module({module!r}).{expression}
"""

# Most servers can be told to take the scheme from this header; others leave that to the app, so that pages with
# absolute addresses would differ from server to server. A front end may repeat the header.
_PROXIED_WSGI = """

def proxied(application):
    def wrapped(environ, start_response):
        schemes = {scheme.strip() for scheme in environ.get("HTTP_X_FORWARDED_PROTO", "").split(",")}
        if schemes in ({"http"}, {"https"}):
            environ["wsgi.url_scheme"] = schemes.pop()
        return application(environ, start_response)

    wrapped.__wrapped__ = application
    return wrapped


application = proxied(application)
"""

_PROXIED_ASGI = """

def proxied(application):
    async def wrapped(scope, receive, send):
        said = dict(scope.get("headers", ())).get(b"x-forwarded-proto", b"")
        schemes = {scheme.strip() for scheme in said.split(b",")}
        if scope["type"] == "http" and schemes in ({b"http"}, {b"https"}):
            scope = {**scope, "scheme": schemes.pop().decode()}
        await application(scope, receive, send)

    wrapped.__wrapped__ = application
    return wrapped


application = proxied(application)
"""

_FORWARDED_ENDS = ("", "-for", "-host", "-port", "-prefix", "-proto", "-ssl")
"""Suffixes of the headers in which a proxy describes the client: Forwarded, X-Forwarded-For …"""

# A client must not be able to forge the headers of a proxy.
_GUARD = """
from functools import lru_cache
from ipaddress import ip_address, ip_network

PROXIES = tuple(map(ip_network, {proxies!r}))
SAID = (
{said}
)


@lru_cache(maxsize=1024)
def is_proxy(address):
    try:
        client = ip_address(address)
    except ValueError:
        return False
    return any(client in network for network in PROXIES)

"""

_GUARDED_WSGI = """

def guarded(application):
    def wrapped(environ, start_response):
        if not is_proxy(environ.get("REMOTE_ADDR", "")):
            # uWSGI has already believed X-Forwarded-Proto, and there is no TLS here
            environ["wsgi.url_scheme"] = "http"
            for name in SAID:
                environ.pop(name, None)
        return application(environ, start_response)

    return wrapped


application = guarded(application)
"""

_GUARDED_ASGI = """

def guarded(application):
    async def wrapped(scope, receive, send):
        # in the place of a proxy that it trusts, uvicorn puts the client that this one names, without a port
        client = scope.get("client") or ("", 0)
        if scope["type"] != "lifespan" and client[1] and not is_proxy(client[0]):
            headers = [pair for pair in scope["headers"] if pair[0] not in SAID]
            scope = {**scope, "headers": headers}
        await application(scope, receive, send)

    return wrapped


application = guarded(application)
"""

_COUNTED = """
if os.environ.get("STACKRACE_COUNT"):
    # servers that load a file rather than a module do not look for others beside it
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    from {module} import counted

    application = counted(application, asgi={asgi})
"""


def write_entry(entry: Path, app: App, interface: Interface, *, proxied: bool) -> None:
    """Write the module that every server loads into the file ``entry``, and the counting module beside it."""
    counting = Path(__file__).with_name("counting.py").read_text(encoding="utf-8")
    entry.with_name(f"{_COUNTING}.py").write_text(counting, encoding="utf-8")
    entry.write_text(entry_source(app, interface, proxied=proxied), encoding="utf-8")


def deployed_source(app: App, interface: Interface, *, proxies: Sequence[str] | None = None) -> str:
    """Return ``entry_source`` for a deployment: without counting, and with the scheme of X-Forwarded-Proto.

    With ``proxies`` (addresses or networks), clients reach the server directly: the X-Forwarded headers of anyone
    else are removed.
    """
    source = entry_source(app, interface, proxied=True, counted=False)
    if proxies is None:
        return source
    names = [f"x-forwarded{end}" if end else "forwarded" for end in _FORWARDED_ENDS]
    is_asgi = interface is Interface.ASGI
    said = [f'b"{name}"' if is_asgi else f'"HTTP_{name.upper().replace("-", "_")}"' for name in names]
    guard = _GUARD.format(proxies=sorted(proxies), said="\n".join(f"    {each}," for each in said))
    return source + guard + (_GUARDED_ASGI if is_asgi else _GUARDED_WSGI)


def entry_source(app: App, interface: Interface, *, proxied: bool = False, counted: bool = True) -> str:
    """Return the text of the module ``stackrace_entry`` that binds ``application`` for ``interface``.

    The module puts the project first on sys.path and, for Django, names the settings. With ``proxied``, the scheme
    of a request is the one in X-Forwarded-Proto; with ``counted``, requests are counted. Raises InputError if the
    app does not offer the interface.
    """
    if interface not in app.interfaces:
        raise InputError(f"{app.name} is given as [app] {app.entry.kind}, so it cannot be hosted as {interface}")
    start = _PATH.format(said=_RACED if counted else _DEPLOYED, root=str(app.root.absolute()))
    start += _HOME if counted else ""
    is_asgi = interface is Interface.ASGI
    around = (_PROXIED_ASGI if is_asgi else _PROXIED_WSGI) if proxied else ""
    if counted:
        around += _COUNTED.format(module=_COUNTING, asgi=is_asgi)
    if app.entry.kind is EntryKind.DJANGO:
        body = _DJANGO_ASGI if is_asgi else _DJANGO_WSGI
        return start + (_SETTINGS + body).format(settings=settings_module(app)) + around
    target = parse_target(app.entry.kind, app.entry.target)
    call = "" if target.arguments is None else f"({target.arguments})"
    return start + _CALLABLE.format(module=target.module, expression=target.name + call) + around
