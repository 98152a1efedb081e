"""What goes over between the examiner and ``app.examine``: one definition for both sides.

The ``TypedDict`` classes are JSON; bodies are base64 there. The others are the examiner's own values.
"""

from __future__ import annotations

import base64
import faulthandler
import json
from typing import Literal, NamedTuple, Protocol, TextIO, TypedDict


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


class Order(TypedDict):
    """What to examine: ``source`` is the entry module's text, ``settings`` Django's settings module or empty.

    For a Rack app ``source`` is the path of its rackup file.
    ``host`` empty lets the examiner choose. ``follow`` permits one redirect within the site.
    ``survey`` asks for pages and services, too. With ``crawl`` it has no requests of its own.
    ``in_doubt`` has every request asked more often: a stack is accused. Without ``lifespan`` an ASGI application is
    not told that it starts, as by servers that send no lifespan events, and is asked briefly. No more of a body
    than ``most_body_bytes`` is kept.
    """

    root: str
    source: str
    interface: str
    settings: str
    host: str
    requests: list[RequestMessage]
    follow: bool
    survey: bool
    crawl: CrawlOrder | None
    in_doubt: bool
    lifespan: bool
    timeout_s: float
    most_body_bytes: int


class SurveyReport(TypedDict):
    """What a race file of the app could say; ``databases`` are pairs of engine and place.

    ``asked`` are the pages to ask for, in order, ``unasked`` the others, with the reason.
    """

    pages: list[str]
    asked: list[str]
    unasked: dict[str, str]
    static: dict[str, str]
    static_root: str
    databases: list[list[str]]
    caches: list[str]


class ReplyMessage(TypedDict):
    """One answer; ``traceback`` is the app's own, empty unless the status is 500 or more.

    A ``body`` of None is the one of the answer before. ``body_bytes`` is its length, ``endless`` whether it was
    still being sent after so many; of one that is too long or endless only the beginning is there.
    """

    status: int
    headers: list[list[str]]
    body: str | None
    body_bytes: int
    endless: bool
    traceback: str


class ExchangeMessage(TypedDict):
    """A request and two answers to it, as different as any two were.

    ``via`` is the path that redirected to ``path``, or empty; ``added`` are headers that the examiner added
    and that every later request needs. ``wall_s`` and ``cpu_s`` are the medians of what all answers but the first
    took: seconds, and CPU seconds of the process.
    """

    path: str
    via: str
    added: list[list[str]]
    first: ReplyMessage
    second: ReplyMessage
    wall_s: float
    cpu_s: float


class LoadingReport(TypedDict):
    """What it took to load the app and to give each first answer: seconds, and CPU seconds of the process."""

    wall_s: float
    cpu_s: float


class PythonReport(TypedDict):
    """The interpreter and its environment; ``distributions`` maps names to versions."""

    version: str
    base: str
    site_packages: list[str]
    distributions: dict[str, str]


class DjangoReport(TypedDict):
    """Django's settings, as far as they matter to a race; empty strings stand for None.

    ``collected`` is STATIC_ROOT, also where no such folder exists. ``media_url`` is empty where a view of the
    project answers there. ``web_sockets`` tells whether its ASGI application routes WebSockets.
    """

    debug: bool
    allowed_hosts: list[str]
    static_url: str
    static_root: str
    collected: str
    media_url: str
    media_root: str
    sends_static: bool
    https_header: str
    routes: list[str]
    web_sockets: bool


class ObjectReport(TypedDict):
    """What the app's object is: "wsgi", "asgi", "factory", "none", or empty where it does not say; and its type."""

    interface: Literal["wsgi", "asgi", "factory", "none", ""]
    type: str


class PoolReport(TypedDict):
    """A pool of threads that pages run in: whose it is, and how many threads each process may have."""

    framework: str
    threads: float


class Report(TypedDict):
    """Everything found out, as far as it got; ``failure`` is the app's own traceback, or empty.

    ``python`` is None in the report on a Rack app, ``object`` where it is as ordered, ``loading`` before every
    request was answered once. ``lifespan`` tells whether an ASGI application took part in that protocol.
    ``written`` are files that the app wrote to, ``imported`` those of its modules that are no part of its
    environment, ``connected`` addresses of servers that it talks to. ``pool`` is None where pages need none.
    """

    python: PythonReport | None
    django: DjangoReport | None
    object: ObjectReport | None
    lifespan: bool
    survey: SurveyReport | None
    host: str
    loading: LoadingReport | None
    written: list[str]
    imported: list[str]
    connected: list[str]
    pool: PoolReport | None
    exchanges: list[ExchangeMessage]
    failure: str


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


class Reply(NamedTuple):
    """An answer of the app."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    traceback: str = ""
    body_bytes: int = 0
    endless: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def message(self, before: Reply | None = None) -> ReplyMessage:
        """Return it as JSON can hold it, after the answer ``before``."""
        is_same = before is not None and before.body == self.body
        return {
            "status": self.status,
            "headers": [list(pair) for pair in self.headers],
            "body": None if is_same else base64.b64encode(self.body).decode("ascii"),
            "body_bytes": self.body_bytes or len(self.body),
            "endless": self.endless,
            "traceback": self.traceback,
        }


class Caller(Protocol):
    """Calls an application in process, by whatever interface it has."""

    def call(self, asked: WireRequest) -> Reply:
        """Return the application's answer."""

    def pool(self) -> PoolReport | None:
        """Return the pool of threads that pages ran in, None where there is none."""

    def close(self) -> None:
        """Let the application end."""


def header(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the first value of the header ``name`` (lower case), or nothing."""
    return next((value for key, value in headers if key.lower() == name), "")


class Channel:
    """Writes one line for each thing that it is told."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def end_in(self, seconds: float) -> None:
        """Have the process end in ``seconds``, from now on, with a dump of all its stacks."""
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._file)

    def stage(self, text: str) -> None:
        """Say what is done next."""
        self._line("stage " + text)

    def progress(self, done: int, number: int, left_s: float) -> None:
        """Say how many pages are asked, of how many, and about how long the others will take."""
        self._line(f"progress {done} {number} {left_s}")

    def page(self, exchange: ExchangeMessage) -> None:
        """Write a page that was answered."""
        self._line("page " + json.dumps(exchange))

    def report(self, report: Report) -> None:
        """Write the whole report; the last one counts."""
        self._line(json.dumps(report))

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()
