"""The messages between the examiner and ``app.examine``, defined once for both sides.

The order and the report are JSON, in which bytes are base64. The ``TypedDict`` classes describe JSON objects;
``base.codec`` turns the report's JSON into dataclasses again.
"""

from __future__ import annotations

import base64
import faulthandler
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO, TypedDict

ANSWER_S = 20.0
"""Most seconds for an answer; only time in which the app could run counts."""


class RequestMessage(TypedDict):
    """One request as the user gave it; ``path`` includes the query, ``body`` is base64."""

    method: str
    path: str
    headers: list[list[str]]
    body: str


class CrawlOrder(TypedDict):
    """A crawl of the home page, the pages ``given``, and all pages that app and sitemaps name, for ``time_s``.

    ``sitemap`` is the path of a sitemap that robots.txt does not name, or empty; every request has ``headers``.
    The crawl ends after ``enough`` pages that can be raced; None sets no such limit.
    """

    given: list[str]
    """Paths of pages that the user named, or that a recording or an earlier race has."""
    headers: list[list[str]]
    sitemap: str
    time_s: float
    enough: int | None


@dataclass(frozen=True)
class Order:
    """An app to examine, and the requests to send; with all defaults, the app is loaded and gets no request."""

    root: str
    source: str
    """The entry module's text; for a Rack app the path of its rackup file."""
    interface: str
    timeout_s: float
    settings: str = ""
    """Django's settings module; empty for other apps."""
    host: str = ""
    """Host header to send; empty lets the examiner choose."""
    requests: Sequence[RequestMessage] = ()
    follow: bool = False
    """True if redirects within the site are followed."""
    survey: bool = False
    """True if the app's pages and services are listed, too."""
    crawl: CrawlOrder | None = None
    """Crawl instead of ``requests``; None for no crawl."""
    in_doubt: bool = False
    """True if every request is sent more often, because a stack gave a wrong answer."""
    lifespan: bool = True
    """True if an ASGI application gets its startup event; if False, each request is sent less often."""
    most_body_bytes: int = 0
    """Most bytes of a body that are kept."""


@dataclass(frozen=True)
class Database:
    """A database of Django's settings."""

    engine: str
    """Last part of the engine's name: ``postgresql``, ``sqlite3``."""
    address: str
    """Host and port; empty without a host."""


@dataclass(frozen=True)
class Survey:
    """Pages, static folders and services of an app."""

    pages: tuple[str, ...] = ()
    """Paths of routes without parameters, in the order of the URL configuration."""
    routes: tuple[str, ...] = ()
    """Paths of routes with parameters, as ``/items/<int:id>/``; after a crawl those of which no page was found."""
    asked: tuple[str, ...] = ()
    """Pages to request, the most informative first; the examination's exchanges belong to the first of these."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """Reasons why pages are not requested, by path."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders of static files that exist, by URL prefix."""
    static_root: str = ""
    """Django's STATIC_ROOT, even if the folder does not exist; empty if unset."""
    databases: tuple[Database, ...] = ()
    caches: tuple[str, ...] = ()
    """Backends of Django's caches."""


@dataclass(frozen=True)
class PythonFacts:
    """The app's interpreter and its environment."""

    version: str
    python: Path
    base: Path
    """The interpreter that the environment was made from."""
    site_packages: tuple[Path, ...]
    """The environment's folders of packages, in the order of sys.path."""
    distributions: Mapping[str, str] = field(default_factory=dict)
    """Versions of installed distributions, by name."""

    @property
    def minor(self) -> tuple[int, int]:
        """Major and minor version, such as (3, 11)."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


@dataclass(frozen=True)
class DjangoFacts:
    """Django settings that matter to a race."""

    allowed_hosts: tuple[str, ...]
    static_url: str
    static_root: Path | None
    """STATIC_ROOT; None if the folder does not exist."""
    https_header: str
    """Header that SECURE_PROXY_SSL_HEADER trusts; empty without that setting."""
    routes: tuple[str, ...]
    """Paths of the URLconf's first level."""
    web_sockets: bool = False
    """True if the project's ASGI application routes WebSockets."""
    collected: Path | None = None
    """STATIC_ROOT, even if the folder does not exist; None if unset."""
    media_url: str = ""
    """MEDIA_URL; empty if it is unset, or if a view of the project answers there."""
    media_root: Path | None = None
    has_asgi: bool = True
    """False if neither Django nor Channels offers an ASGI application."""
    sends_static: bool = False
    """True if the app itself sends its static files, by WhiteNoise."""


@dataclass(frozen=True)
class ThreadPool:
    """AnyIO's threads, in which asynchronous frameworks run synchronous code."""

    framework: str
    """Title of the framework."""
    threads: int
    """Most threads of each process."""


@dataclass(frozen=True)
class ObjectReport:
    """The object that the app's name refers to."""

    interface: Literal["wsgi", "asgi", "factory", "none", ""]
    """Interface of the object; empty if its arguments do not show the interface."""
    type: str
    """The full name of its type."""


@dataclass(frozen=True)
class Reply:
    """One answer of the app."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    """Body; only the beginning if it is too long or does not end."""
    traceback: str = ""
    """The app's own traceback, for a status of 500 and more; else empty."""
    body_bytes: int = 0
    """Length of the whole body; of an endless body, the bytes received before reading was stopped."""
    endless: bool = False
    """True if the body was still being sent when reading was stopped."""

    @property
    def succeeded(self) -> bool:
        """True if the status is 2xx."""
        return 200 <= self.status < 300

    def header(self, name: str) -> str:
        """Return the first value of the header ``name``, in any case; empty without one."""
        return header(self.headers, name)


@dataclass(frozen=True)
class ExchangeReport:
    """A request and two of its answers, which differ as much as any two did."""

    path: str
    via: str
    """Path that redirected to ``path``; empty without a redirect."""
    added: tuple[tuple[str, str], ...]
    """Headers that the examiner added, and that the request needs in a race, too."""
    first: Reply
    second: Reply
    wall_s: float
    """Median seconds of all answers except the first."""
    cpu_s: float
    """Median CPU seconds of the process for these answers."""
    rarely: bool = False
    """True if only a few of many answers differed, and the last did not."""


@dataclass
class Report:
    """Result of an examination, perhaps incomplete."""

    host: str = ""
    """The Host header that was sent."""
    python: PythonFacts | None = None
    """Facts about the app's interpreter; None in the report on a Rack app."""
    django: DjangoFacts | None = None
    debug: bool = False
    """True if the app says that it is in debug mode."""
    object: ObjectReport | None = None
    """The app's object if it has another interface than ordered; else None."""
    lifespan: bool = False
    """True if an ASGI application took part in the lifespan protocol."""
    survey: Survey | None = None
    loading: tuple[float, float] = (0.0, 0.0)
    """Time to load the app and to give each first answer: seconds, and CPU seconds of the process."""
    exchanges: tuple[ExchangeReport, ...] = ()
    written: tuple[Path, ...] = ()
    """Files that the app wrote to."""
    imported: tuple[Path, ...] = ()
    """Files of imported modules that do not belong to the app's Python environment."""
    connected: tuple[str, ...] = ()
    """Addresses of servers that the app is connected to."""
    pool: ThreadPool | None = None
    """Thread pool that pages ran in; None if they need none."""
    failure: str = ""
    """The app's own traceback; empty without a failure."""


def _plain(value: Any) -> Any:
    """Return a value in a form that JSON can hold; a second body that equals the first becomes null."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, ExchangeReport) and value.second.body == value.first.body:
        return {**vars(value), "second": {**vars(value.second), "body": None}}
    return vars(value) if is_dataclass(value) else str(value)


class WireRequest(NamedTuple):
    """A request as it goes over the wire, Host included."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def host(self) -> str:
        """Value of the Host header."""
        return header(self.headers, "host")


def header(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the first value of the header ``name``, in any case; empty without one."""
    return next((value for key, value in headers if key.lower() == name.lower()), "")


class Channel:
    """Writes stages, pages and reports to the parent process, one line each."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def end_in(self, seconds: float) -> None:
        """Set the time limit to ``seconds`` from now in which the process can run; then all stacks are dumped."""
        self._line(f"limit {seconds}")
        faulthandler.dump_traceback_later(seconds, repeat=True, file=self._file)

    def stage(self, text: str) -> None:
        """Write the next step of the examination."""
        self._line("stage " + text)

    def progress(self, done: int, number: int, left_s: float) -> None:
        """Write the number of pages done, of all pages, and the expected seconds for the others."""
        self._line(f"progress {done} {number} {left_s}")

    def page(self, exchange: ExchangeReport) -> None:
        """Write the exchange of a page that was answered."""
        self._line("page " + json.dumps(exchange, default=_plain))

    def report(self, report: Report) -> None:
        """Write the whole report; the last one counts."""
        self._line(json.dumps(report, default=_plain))

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()
