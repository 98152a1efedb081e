"""Find the application that a command line serves: ``uvicorn app.main:app --host 0.0.0.0``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...stacks.servers import catalogue
from ..app import EntryKind

_WSGI, _ASGI = EntryKind.WSGI, EntryKind.ASGI

PROGRAMS = {
    "daphne": _ASGI,
    "fastapi": _ASGI,
    "flask": _WSGI,
    "granian": _ASGI,
    "gunicorn": _WSGI,
    "hypercorn": _ASGI,
    "litestar": _ASGI,
    "mod_wsgi-express": _WSGI,
    "quart": _ASGI,
    "sanic": _ASGI,
    "uvicorn": _ASGI,
    "uwsgi": _WSGI,
    "waitress-serve": _WSGI,
}
"""Programs that serve an application, and the interface that they take unless told otherwise."""

_NAMED_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys(("--app", "--entrypoint", "--module", "--wsgi", "--wsgi-file", "--file"), PROGRAMS),
    "-A": ("flask", "quart"),
    "-e": ("fastapi",),
    "-w": ("uwsgi",),
}
"""Options whose value is the application, and the programs that have them: gunicorn's ``-w`` is a number."""
_LOOKING = ("fastapi", "flask", "litestar", "quart")
APP_VARIABLES = {"flask": "FLASK_APP", "quart": "QUART_APP"}
"""Variables that name the application, by the program that reads them."""
_FOLDERS = frozenset({"--chdir", "--app-dir", "--working-dir", "--pythonpath", "--python-path"})
_FACTORIES = frozenset({"--factory", "--call"})


@cache
def _switches() -> frozenset[str]:
    rows = (row for spec in catalogue().specs.values() if spec.native for row in spec.native.rows)
    return frozenset(name for row in rows if row.is_switch for name in row.names.split())


_TARGET = re.compile(r"(?:asgi:|wsgi:)?([A-Za-z_][\w.]*):([A-Za-z_][\w.]*(?:\(.*\))?)$")
_MODULE = re.compile(r"[A-Za-z_][\w./-]*$")


_CONFIGURATIONS = (".ini", ".xml", ".yaml", ".yml", ".json")
"""Suffixes of uWSGI's configuration files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedApp:
    """An application as a command names it."""

    kind: EntryKind
    module: str
    """Dotted name, or path of a file; empty if the program searches for the module itself."""
    name: str
    """Name of the callable, perhaps with call arguments; empty if the program searches for it itself."""
    folder: str = ""
    """Folder that imports start from, relative to the project's folder; empty for the project's folder."""
    is_factory: bool = False


def served_app(words: Sequence[str], environment: Mapping[str, str], folder: str = "") -> ServedApp | None:
    """Return the application that a program, started in ``folder``, serves; None if its words name none.

    >>> served_app(("gunicorn", "-b", "0.0.0.0:80", "shop:app"), {}).name
    'app'
    """
    program, *words = words
    # uWSGI takes its own files without an option
    files = _CONFIGURATIONS if program == "uwsgi" else ()
    positional = [word for word in _positional(words) if not word.endswith(files)]
    options = dict(_options(words))
    folder = next((options[name] for name in _FOLDERS if name in options), folder)
    kind = _kind(program, options)
    is_factory = bool(_FACTORIES & set(words))
    named = [options[name] for name, programs in _NAMED_BY.items() if name in options and program in programs]
    if variable := environment.get(APP_VARIABLES.get(program, "")):
        named.append(variable)
    for word in (*named, *positional):
        if match := _TARGET.match(word):
            return ServedApp(kind=kind, module=match[1], name=match[2], folder=folder, is_factory=is_factory)
    if program in _LOOKING:
        positional = [word for word in positional if word.endswith(".py")]
    module = next((word for word in (*named, *positional[-1:]) if _MODULE.match(word)), "")
    if not module and program not in _LOOKING:
        return None
    name = options.get("--callable", "application" if program in ("gunicorn", "uwsgi", "mod_wsgi-express") else "")
    return ServedApp(kind=kind, module=module, name=name, folder=folder, is_factory=is_factory)


def _positional(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        is_value = before.startswith("-") and "=" not in before and before.lstrip("-") not in _switches()
        # -w4 and -b:80 have their values in them
        is_value = is_value and (before.startswith("--") or len(before) == 2)
        if not word.startswith("-") and not is_value:
            yield word
        before = word


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("-"):
            following = words[index + 1] if index + 1 < len(words) else ""
            yield name, value if equals else following


def _kind(program: str, options: Mapping[str, str]) -> EntryKind:
    interface = options.get("--interface", "")
    if interface:
        return _WSGI if "wsgi" in interface else _ASGI
    worker = options.get("-k", options.get("--worker-class", ""))
    if program == "gunicorn" and re.search("uvicorn|asgi|hypercorn", worker, re.IGNORECASE):
        return _ASGI
    return PROGRAMS[program]
