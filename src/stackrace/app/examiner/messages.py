"""What goes over between the examiner and ``app.examine``: one definition for both sides.

Both travel as JSON, in which bytes are base64. The ``TypedDict`` classes are what stands there; of what is found,
``base.codec`` makes the dataclasses again.
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
"""The longest answer, in time that the app could run."""


class RequestMessage(TypedDict):
    """One request as the user wants it; ``path`` holds the query."""

    method: str
    path: str
    headers: list[list[str]]
    body: str


class CrawlOrder(TypedDict):
    """Ask for the home page, the pages ``given`` and all that the app and its sitemaps name, for ``time_s``.

    ``sitemap`` is the path of one that robots.txt does not name, or empty; ``headers`` go with every request.
    ``enough`` pages that can be raced end it, None never does.
    """

    given: list[str]
    headers: list[list[str]]
    sitemap: str
    time_s: float
    enough: int | None


@dataclass(frozen=True)
class Order:
    """What to examine, and what to ask for; what has a default loads the app, and asks it nothing."""

    root: str
    source: str
    """The entry module's text; for a Rack app the path of its rackup file."""
    interface: str
    timeout_s: float
    settings: str = ""
    """Django's settings module; empty for another app."""
    host: str = ""
    """Empty lets the examiner choose."""
    requests: Sequence[RequestMessage] = ()
    follow: bool = False
    """True if redirects within the site are followed."""
    survey: bool = False
    """True if it is asked for pages and services, too."""
    crawl: CrawlOrder | None = None
    """With it there are no ``requests`` to ask for."""
    in_doubt: bool = False
    """True if every request is asked more often: a stack is accused."""
    lifespan: bool = True
    """True if an ASGI application is told that it starts; without, it is asked briefly."""
    most_body_bytes: int = 0
    """No more of a body is kept."""


@dataclass(frozen=True)
class Database:
    """A database of Django's settings."""

    engine: str
    """Last part of the engine's name: ``postgresql``, ``sqlite3``."""
    address: str
    """Host and port, empty where there are none."""


@dataclass(frozen=True)
class Survey:
    """Pages, folders and services."""

    pages: tuple[str, ...] = ()
    """Paths of routes without parameters, in the order of the URL configuration."""
    asked: tuple[str, ...] = ()
    """Pages to ask for, the most telling first; the examination's exchanges answer the first of them."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """Pages that are not asked for, and why."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders of static files that exist, by URL prefix."""
    static_root: str = ""
    """Django's STATIC_ROOT, also where no such folder exists."""
    databases: tuple[Database, ...] = ()
    caches: tuple[str, ...] = ()
    """The backends of Django's caches."""


@dataclass(frozen=True)
class PythonFacts:
    """The app's interpreter and its environment."""

    version: str
    python: Path
    base: Path
    """The interpreter that the environment was made from."""
    site_packages: tuple[Path, ...]
    """The environment's folders of packages, in the order of the path."""
    distributions: Mapping[str, str] = field(default_factory=dict)
    """Versions by name."""

    @property
    def minor(self) -> tuple[int, int]:
        """The version as extension modules are made for it, (3, 11) say."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


@dataclass(frozen=True)
class DjangoFacts:
    """What Django's settings say, as far as it matters to a race."""

    debug: bool
    allowed_hosts: tuple[str, ...]
    static_url: str
    static_root: Path | None
    """STATIC_ROOT, None unless the folder exists."""
    https_header: str
    """The header that SECURE_PROXY_SSL_HEADER trusts, empty without."""
    routes: tuple[str, ...]
    """The URLconf's first level."""
    web_sockets: bool = False
    """True if its ASGI application routes WebSockets."""
    collected: Path | None = None
    """STATIC_ROOT, also where no such folder exists."""
    media_url: str = ""
    """MEDIA_URL; empty where there is none, or where a view of the project answers there."""
    media_root: Path | None = None
    sends_static: bool = False
    """True if the app itself sends its static files, by WhiteNoise."""


@dataclass(frozen=True)
class ThreadPool:
    """Threads of AnyIO's, in which asynchronous frameworks run what is not asynchronous."""

    framework: str
    """Name as people write it."""
    threads: int
    """How many each process may have."""


@dataclass(frozen=True)
class ObjectReport:
    """What the app's object is."""

    interface: Literal["wsgi", "asgi", "factory", "none", ""]
    """Empty where it does not say."""
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
    """The app's own, for a status of 500 and more."""
    body_bytes: int = 0
    """The length of the whole body; of one without an end, what came before it was given up."""
    endless: bool = False
    """True if it was still being sent then."""

    @property
    def succeeded(self) -> bool:
        """True if the status is 2xx."""
        return 200 <= self.status < 300

    def header(self, name: str) -> str:
        """Return the first value of the header ``name``, in any case; empty when there is none."""
        return header(self.headers, name)


@dataclass(frozen=True)
class ExchangeReport:
    """A request and two answers to it, as different as any two were."""

    path: str
    via: str
    """The path that redirected to ``path``, or empty."""
    added: tuple[tuple[str, str], ...]
    """Headers that the examiner added, and that every later request needs."""
    first: Reply
    second: Reply
    wall_s: float
    """The median of what all answers but the first took."""
    cpu_s: float
    """CPU seconds of the process, as ``wall_s``."""
    rarely: bool = False
    """True if a few answers differed, among many that did not, the last among these."""


@dataclass
class Report:
    """Everything found out, as far as it got."""

    host: str = ""
    """The Host header that was sent."""
    python: PythonFacts | None = None
    """None in the report on a Rack app."""
    django: DjangoFacts | None = None
    object: ObjectReport | None = None
    """None where it is as ordered."""
    lifespan: bool = False
    """True if an ASGI application took part in that protocol."""
    survey: Survey | None = None
    loading: tuple[float, float] = (0.0, 0.0)
    """What it took to load the app and to give each first answer: seconds, and CPU seconds of the process."""
    exchanges: tuple[ExchangeReport, ...] = ()
    written: tuple[Path, ...] = ()
    """Files that the app wrote to."""
    imported: tuple[Path, ...] = ()
    """Files of its modules that are no part of its environment."""
    connected: tuple[str, ...] = ()
    """Addresses of servers that it talks to."""
    pool: ThreadPool | None = None
    """None where its pages need none."""
    failure: str = ""
    """The app's own traceback, or empty."""


def _plain(value: Any) -> Any:
    """Return what JSON can hold of a value; a second body that is the first one's is null."""
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
        """The value of its Host header."""
        return header(self.headers, "host")


def header(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the first value of the header ``name``, in any case, or nothing."""
    return next((value for key, value in headers if key.lower() == name.lower()), "")


class Channel:
    """Writes one line for each thing that it is told."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def end_in(self, seconds: float) -> None:
        """Have the process ended after ``seconds`` from now in which it can run, with a dump of all its stacks."""
        self._line(f"limit {seconds}")
        faulthandler.dump_traceback_later(seconds, repeat=True, file=self._file)

    def stage(self, text: str) -> None:
        """Say what is done next."""
        self._line("stage " + text)

    def progress(self, done: int, number: int, left_s: float) -> None:
        """Say how many pages are asked, of how many, and about how long the others will take."""
        self._line(f"progress {done} {number} {left_s}")

    def page(self, exchange: ExchangeReport) -> None:
        """Write a page that was answered."""
        self._line("page " + json.dumps(exchange, default=_plain))

    def report(self, report: Report) -> None:
        """Write the whole report; the last one counts."""
        self._line(json.dumps(report, default=_plain))

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()
