"""Result of an examination: the app is asked in process, without any server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..measure.workload import PageTime, Request, excess
from ..stacks.setting import Interface
from .app import Entry
from .examiner.messages import DjangoFacts, PythonFacts, Reply, Survey, ThreadPool


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and two of its answers, which differ as much as any two did."""

    request: Request
    """The request that was really sent, after a redirect for example."""
    first: Reply
    second: Reply
    via: str = ""
    """Path that redirected to this request; empty without a redirect."""
    added: tuple[str, ...] = ()
    """Names of headers that the request needed beyond those of the user."""
    page: PageTime = field(default_factory=PageTime)
    """Time that an answer took; the first answer is not counted."""
    rarely: bool = False
    """True if only a few of many answers differed, and the last did not."""


def excess_of(reply: Reply) -> str:
    """Return why an answer cannot be raced (too large, or endless), as words after "an answer that"; else empty."""
    return excess(reply.headers, reply.body_bytes, reply.endless)


_TOOLBAR = re.compile(rb"id=[\"']?(?:djDebug|flDebug)|debug[-_]?toolbar", re.IGNORECASE)


def has_toolbar(body: bytes) -> bool:
    """Tell whether a page contains the debug toolbar of Django or Flask."""
    return _TOOLBAR.search(body) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything found out about an app."""

    entry: Entry
    root: Path = Path()
    """Folder of the app's code."""
    interface: Interface
    python: PythonFacts | None
    """Facts about the app's interpreter; None for Rack apps and plain files."""
    django: DjangoFacts | None
    debug: bool = False
    """True if the app says that it is in debug mode."""
    host: str
    """The Host header that was sent."""
    exchanges: tuple[Exchange, ...]
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders that a front end may serve, by URL prefix."""
    files: tuple[str, ...] = ()
    """Some of the paths of plain files; empty for other apps."""
    written: tuple[Path, ...] = ()
    """Files that the app opened for writing, or holds open for writing."""
    imported: tuple[Path, ...] = ()
    """Files of imported modules that do not belong to the app's Python environment."""
    lifespan: bool = False
    """True if the app was asked to take part in ASGI's lifespan protocol, and does."""
    connected: tuple[str, ...] = ()
    """Servers that the app is connected to: ``127.0.0.1:5432``, or the path of a unix socket."""
    pool: ThreadPool | None = None
    """Thread pool that the app's pages run in; None if they need none."""
    loading: PageTime = field(default_factory=PageTime)
    """Time to load the app and to give the first answer to each request."""
    cut: str = ""
    """Reason that ended a crawl at the page after the last exchange; empty if the crawl was completed."""
    survey: Survey = field(default_factory=Survey)
    """Pages and other facts that the app lists about itself, if it was asked for them."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts about the app that spoil the figures of a race, one sentence each."""
        notes = []
        if self.debug:
            notes.append(f"Debug mode is on in {self.entry.target}: the figures will not be those of production.")
        toolbar = [exchange.request.path for exchange in self.exchanges if has_toolbar(exchange.first.body)]
        if toolbar:
            notes.append(f"The Debug toolbar is in {', '.join(toolbar)}: switch it off for a race.")
        return tuple(notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The warnings, and decisions made for the user, one sentence each."""
        notes = [*self.warnings]
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
