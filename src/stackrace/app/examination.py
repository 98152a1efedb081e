"""What an examination found out about an app, asked in process, without any server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..measure.workload import PageTime, Request, excess
from ..stacks.stack import Interface
from .app import Entry
from .examiner.messages import DjangoFacts, PythonFacts, Reply, Survey, ThreadPool


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and two answers to it, as different as any two were."""

    request: Request
    """The one really asked."""
    first: Reply
    second: Reply
    via: str = ""
    """The path that redirected to it, empty without a redirect."""
    added: tuple[str, ...] = ()
    """Names of the headers it needed beyond what the user gave."""
    page: PageTime = field(default_factory=PageTime)
    """What an answer took, the first not counted."""
    rarely: bool = False
    """True if a few answers differed, among many that did not, the last among these."""


def excess_of(reply: Reply) -> str:
    """Say after "an answer that" why it cannot be raced: it is too large, or has no end; empty where it can."""
    return excess(reply.headers, reply.body_bytes, reply.endless)


_TOOLBAR = re.compile(rb"id=[\"']?(?:djDebug|flDebug)|debug[-_]?toolbar", re.IGNORECASE)


def has_toolbar(body: bytes) -> bool:
    """Tell whether the Debug toolbar of Django or Flask is in a page."""
    return _TOOLBAR.search(body) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything found out about an app."""

    entry: Entry
    root: Path = Path()
    """Where its code lies."""
    interface: Interface
    python: PythonFacts | None
    """None for Rack apps and plain files."""
    django: DjangoFacts | None
    host: str
    """The Host header that was sent."""
    exchanges: tuple[Exchange, ...]
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders that a front end may serve, by URL prefix."""
    files: tuple[str, ...] = ()
    """Some of the paths of plain files."""
    written: tuple[Path, ...] = ()
    """Files that the app opened for writing, or holds open so."""
    imported: tuple[Path, ...] = ()
    """Files of its modules that are no part of its environment."""
    lifespan: bool = False
    """True if the app takes part in ASGI's lifespan protocol, as it was asked."""
    connected: tuple[str, ...] = ()
    """Servers that it talks to: ``127.0.0.1:5432``, or the path of a unix socket."""
    pool: ThreadPool | None = None
    """What its pages run in; None where they need none."""
    loading: PageTime = field(default_factory=PageTime)
    """What it took to load the app and to give each first answer."""
    cut: str = ""
    """What ended a crawl at the page after its last exchange; empty where it came to its end."""
    survey: Survey = field(default_factory=Survey)
    """What the app says of itself, where it was asked to."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided for the user, and what he should know of his app, one sentence each."""
        notes = []
        if self.django is not None and self.django.debug:
            notes.append(f"DEBUG is on in {self.entry.target}: the figures will not be those of production.")
        toolbar = [exchange.request.path for exchange in self.exchanges if has_toolbar(exchange.first.body)]
        if toolbar:
            notes.append(f"The Debug toolbar is in {', '.join(toolbar)}: take it out of MIDDLEWARE for a race.")
        redirected = {exchange.via: exchange.request.path for exchange in self.exchanges if exchange.via}
        notes.extend(f"{path} redirects to {target}, which is raced." for path, target in redirected.items())
        added = dict.fromkeys(name for exchange in self.exchanges for name in exchange.added)
        believed_together = added.pop("X-Forwarded-For", "none") is None
        if added:
            names = ", ".join(added)
            notes.append(f"The site is https only: what a TLS proxy would say is sent ({names}).")
        if believed_together:
            notes.append(
                "X-Forwarded-For goes with X-Forwarded-Proto: some servers believe the one only with both."
            )
        return tuple(notes)
