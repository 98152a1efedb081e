"""The parts of a configuration of the user's nginx, and what happened to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...native_options import Change, Concern, NotTaken
from .parsing import Directive

__all__ = ["APP", "PASS", "PROTOCOLS", "TARGET", "SiteFile", "host_of"]

APP = "app"
"""The upstream of ours, where the user has none by name."""
PASS = re.compile("(proxy|uwsgi|fastcgi|scgi)_pass")
PROTOCOLS = {"proxy": "http", "uwsgi": "uwsgi", "fastcgi": "fastcgi", "scgi": "scgi"}
TARGET = re.compile(r"(?:(https?|uwsgis?|suwsgi)://)?(unix:[^:]+(?::)?|[^/]*)(.*)", re.DOTALL)
"""Scheme, place and path of what is forwarded to."""


@dataclass(slots=True)
class SiteFile:
    """The parts of a configuration, as they are raced, and what happened to them."""

    main: list[Directive] = field(default_factory=list)
    events: list[Directive] = field(default_factory=list)
    http: list[Directive] = field(default_factory=list)
    """Without servers and the app's upstream."""
    server: list[Directive] = field(default_factory=list)
    """What is in the one that forwards to the app."""
    upstream: list[Directive] = field(default_factory=list)
    """What balances the app's servers; these themselves are left out."""
    server_words: list[str] = field(default_factory=list)
    """What is said of each of them."""
    name: str = APP
    """How the upstream is called."""
    protocol: str = ""
    target: str = ""
    """Where the app is, as the file has it."""
    changes: list[Change] = field(default_factory=list)
    not_taken: list[NotTaken] = field(default_factory=list)
    root: Directive | None = None
    """The folder of files of the whole server, if it has one."""
    files: frozenset[str] = frozenset()
    """Other files that it includes."""

    def change(self, directive: Directive, concern: Concern) -> None:
        """Note that ``directive`` is decided otherwise."""
        key = f"{directive.file}: {directive.name}" if directive.file else directive.name
        self.changes.append(Change(key=key, theirs=" ".join(directive.args), concern=concern, line=directive.line))

    def leave(self, directive: Directive, why: str) -> None:
        """Note that the race goes without ``directive``."""
        what = f"{directive.file}: {directive.words}" if directive.file else directive.words
        self.not_taken.append(NotTaken(line=directive.line, what=what, why=why))


def host_of(forward: Directive) -> str:
    """Return the place that a directive forwards to, or the name of its upstream."""
    match = TARGET.fullmatch(forward.args[0] if forward.args else "")
    return match[2].rstrip(":") if match else ""
