"""What goes over between the examiner and ``apps.examine``: one definition for both sides.

The ``TypedDict`` classes are JSON; bodies are base64 there. The others are the examiner's own values.
"""

from __future__ import annotations

import base64
from typing import NamedTuple, Protocol, TypedDict


class RequestMessage(TypedDict):
    """One request as the user wants it; ``path`` holds the query."""

    method: str
    path: str
    headers: list[list[str]]
    body: str


class Order(TypedDict):
    """What to examine: ``source`` is the entry module's text, ``settings`` Django's settings module or empty.

    For a Rack app ``source`` is the path of its rackup file.
    ``host`` empty lets the examiner choose. ``follow`` permits one redirect within the site.
    """

    root: str
    source: str
    interface: str
    settings: str
    host: str
    requests: list[RequestMessage]
    follow: bool
    timeout_s: float


class ReplyMessage(TypedDict):
    """One answer; ``traceback`` is the app's own, empty unless the status is 500 or more."""

    status: int
    headers: list[list[str]]
    body: str
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


class PythonReport(TypedDict):
    """The interpreter and its environment; ``distributions`` maps names to versions."""

    version: str
    base: str
    prefix: str
    site_packages: list[str]
    distributions: dict[str, str]


class RubyReport(TypedDict):
    """A Rack app's interpreter, and the release of Rack that it loaded; empty before it did."""

    version: str
    rack: str


class DjangoReport(TypedDict):
    """Django's settings, as far as they matter to a race; empty strings stand for None."""

    version: str
    debug: bool
    allowed_hosts: list[str]
    static_url: str
    static_root: str
    engines: dict[str, str]
    wsgi: str
    asgi: str
    https_only: bool
    https_header: str
    routes: list[str]


class Report(TypedDict):
    """Everything found out, as far as it got; ``failure`` is the app's own traceback, or empty.

    ``ruby`` stands in place of ``python`` in the report on a Rack app.
    """

    python: PythonReport | None
    ruby: RubyReport | None
    django: DjangoReport | None
    host: str
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

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def message(self) -> ReplyMessage:
        """Return it as JSON can hold it."""
        return {
            "status": self.status,
            "headers": [list(pair) for pair in self.headers],
            "body": base64.b64encode(self.body).decode("ascii"),
            "traceback": self.traceback,
        }


class Caller(Protocol):
    """Calls an application in process, by whatever interface it has."""

    def call(self, asked: WireRequest) -> Reply:
        """Return the application's answer."""

    def close(self) -> None:
        """Let the application end."""


def header(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the first value of the header ``name`` (lower case), or nothing."""
    return next((value for key, value in headers if key.lower() == name), "")
