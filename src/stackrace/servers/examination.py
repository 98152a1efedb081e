"""Looks an entry from outside over before anything is started: what it says of itself, and a rehearsed recipe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ..model.errors import StackraceError
from ..model.stack import BEHIND_ANOTHER, Interface, Protocol, ServerSpec, Setting, Socket
from .contract import (
    Endpoint,
    Entry,
    Fragment,
    Guest,
    Recipe,
    Server,
    Site,
)
from .hosted import Hosted, PythonRuntime, RubyRuntime

__all__ = ["problem_of"]

_WORD = re.compile(r"[a-z][a-z0-9_-]*")
"""No word of a stack's path may be misread as part of the grammar."""
_CHOICE = re.compile(r"[a-z0-9_.-]+")
_NOWHERE = Path("/nowhere/stackrace-rehearsal")
"""A recipe is pure: it may name paths of its site, not open them."""


def problem_of(entry: object) -> str:
    """Return what is wrong with ``entry`` in a few words, empty if it can be used.

    Whatever its own code raises while it is rehearsed passes through, except for what it says on purpose.
    """
    if not isinstance(entry, (Server, Guest)):
        return "it must be an instance of a class derived from stackrace.servers.Server or Guest"
    if not isinstance(getattr(entry, "spec", None), ServerSpec):
        return "its class has no spec: a stackrace.model.stack.ServerSpec"
    return next(_problems(entry.spec, entry), "") or _rehearsed(entry)


def _problems(spec: ServerSpec, entry: Entry) -> Iterator[str]:
    if not _WORD.fullmatch(spec.name):
        yield f"its name {spec.name!r} must have a-z first, then a-z, 0-9, _ and -"
    if not spec.hosts and not spec.forwards:
        yield "its spec neither hosts an interface nor forwards a protocol"
    if isinstance(entry, Server) and (not spec.listens or not spec.sockets):
        yield "a Server's spec must say which protocols it listens to, on which sockets"
    if isinstance(entry, Guest) and not spec.inside:
        yield "a Guest's spec must say inside which servers it lives"
    for name, count in Counter(setting.name for setting in (*spec.settings, *BEHIND_ANOTHER)).items():
        if count > 1:
            yield f"its setting {name!r} is there twice, or is one that every server has"
    for setting in spec.settings:
        yield from _setting(setting)


def _setting(setting: Setting) -> Iterator[str]:
    name, default = setting.name, setting.default
    if not _WORD.fullmatch(name):
        yield f"its setting {name!r} must have a-z first, then a-z, 0-9, _ and -"
    if isinstance(default, str):
        if default not in setting.choices:
            yield f"the default of its setting {name!r} is none of its choices"
        if not all(_CHOICE.fullmatch(choice) for choice in setting.choices):
            yield f"the choices of its setting {name!r} must have only a-z, 0-9, _, . and -"
    elif not isinstance(default, bool) and not setting.minimum <= default <= setting.maximum:
        yield f"the default of its setting {name!r} is not between its minimum and its maximum"


def _rehearsed(entry: Entry) -> str:
    """Have it say how it would start with all settings at their defaults."""
    settings = {setting.name: setting.default for setting in (*entry.spec.settings, *BEHIND_ANOTHER)}
    try:
        requirements = entry.requirements(settings)
        if not isinstance(requirements, tuple) or not all(
            isinstance(requirement, str) for requirement in requirements
        ):
            return "requirements() must return a tuple of strings"
        site = _site(entry.spec, settings)
        if isinstance(entry, Server):
            recipe = entry.recipe(site)
            if not isinstance(recipe, Recipe):
                return "recipe() must return a stackrace.servers.Recipe"
            if not recipe.command or not all(isinstance(word, str) for word in recipe.command):
                return "the command of its recipe must be a tuple of strings"
        elif isinstance(entry, Guest) and not isinstance(entry.fragment(site), Fragment):
            return "fragment() must return a stackrace.servers.Fragment"
    except StackraceError:
        pass  # said on purpose: it will say so again when it is asked in earnest
    except OSError as error:
        if not str(error.filename).startswith(str(_NOWHERE)):
            raise
    return ""


def _site(spec: ServerSpec, settings: dict[str, str | int | bool]) -> Site:
    protocol = Protocol.HTTP if Protocol.HTTP in spec.listens else next(iter(sorted(spec.listens)), Protocol.HTTP)
    upstream = next(iter(spec.forwards), None)
    interface = next(iter(sorted(spec.hosts)), Interface.WSGI)
    return Site(
        directory=_NOWHERE / "site",
        listen=Endpoint(protocol=protocol, socket=Socket.TCP, port=8000),
        settings=settings,
        app=Hosted(
            interface=interface,
            root=_NOWHERE / "project",
            runtime=_runtime(interface),
        ),
        upstream=() if upstream is None else (Endpoint(protocol=upstream, socket=Socket.TCP, port=9000),),
    )


def _runtime(interface: Interface) -> PythonRuntime | RubyRuntime | None:
    if interface is Interface.FILES:
        return None
    if interface is Interface.RACK:
        return RubyRuntime(ruby=_NOWHERE / "ruby", config=_NOWHERE / "project" / "config.ru")
    return PythonRuntime(
        module="stackrace_entry",
        entry=_NOWHERE / "app" / "stackrace_entry.py",
        python=_NOWHERE / "environment" / "bin" / "python",
        home=_NOWHERE / "environment",
        python_path=(_NOWHERE / "project",),
        site_packages=(_NOWHERE / "environment" / "lib",),
    )
