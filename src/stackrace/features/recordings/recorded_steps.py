"""The content of a recording: steps to replay, and the number of requests left out, by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ...measure.engine.url import is_token
from ...measure.workload import Request


class Skip(StrEnum):
    """A reason to leave a request out, in words that follow "left out: "."""

    UNREADABLE = "not a readable entry"
    SCHEME = "neither http nor https (data:, ws:, a browser extension)"
    OTHER_SERVER = "sent to another server"
    METHOD = "its method cannot be replayed"
    WEB_SOCKET = "a WebSocket"
    EVENT_STREAM = "an event stream, which has no end"
    BROWSER_ANSWER = "answered by the browser itself, out of its cache or by a service worker"
    NO_ANSWER = "failed, blocked or never answered"
    BODY_MISSING = "its body is not in the file"
    BODY_DAMAGED = "its body is not whole in the file"
    LINE = "not a line of the common or combined format"
    REQUEST_LINE = "its request line is malformed"
    BODY_NOT_LOGGED = "its body is not in the log"
    ANSWER_NOT_LOGGED = "no answer to it is in the log"


class Skips:
    """Counter of reasons to leave requests out, with the first place of each."""

    def __init__(self) -> None:
        self._counts: Counter[Skip] = Counter()
        self._first: dict[Skip, int] = {}

    def count(self, reason: Skip, position: int) -> None:
        """Count ``reason``, met at ``position``: the number of an entry or a line."""
        self._counts[reason] += 1
        self._first.setdefault(reason, position)

    def most_frequent(self) -> tuple[Skip, int] | None:
        """Return the reason met most often (the last of several) and its first place; None without any."""
        if not self._counts:
            return None
        reason = max(reversed(Skip), key=self._counts.__getitem__)
        return reason, self._first[reason]

    def counts(self) -> Mapping[str, int]:
        """Return the number of requests left out for each reason that was met, in the order of ``Skip``."""
        return {str(reason): self._counts[reason] for reason in Skip if self._counts[reason]}


class LeftOut(Exception):  # noqa: N818 (no error: the request is left out, and counted)
    """A request is left out, for the reason ``skip``."""

    def __init__(self, skip: Skip) -> None:
        super().__init__(skip)
        self.skip = skip


MAX_STEPS = 1_000_000
"""The most steps of a recording. Every thread of the engine keeps all of them in memory, rendered."""

_NS = 1e-9
_THINK_MAX_NS = 24 * 3600 * 10**9
"""The longest pause that is kept, a day: after a longer one, a visitor has come back another time."""

Headers = tuple[tuple[str, str], ...]


class RecordingError(ValueError):
    """The file cannot be replayed. The message says why, and what to do."""


class Step(NamedTuple):
    """One recorded request with what is known of its answer."""

    request: Request
    """The request to replay. Characters that a request line may not contain are percent-encoded. Headers that
    belong to the recorded connection or to the browser's cache are left out. Accept-Encoding stays, so that a
    replay gets the same coding, and so does a recorded Cookie. The pause before it is at most a day."""
    status: int
    """Recorded status; 304 says nothing about the status that a new visitor gets."""
    answer: bytes | None = None
    """The answer's body; None if its bytes are not certain, as with a content coding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of one visitor's session, or of a log, in order; at least one."""

    origin: str | None
    """Server that got a session's requests, as "http://host:port" without a default port; None for a log."""
    steps: Sequence[Step]
    skipped: Mapping[str, int]
    """Number of requests left out, by reason."""
    entries: Sequence[Mapping[str, object]] = ()
    """A session's entries that are replayed, as the HAR file has them."""


def pause_s(since_ns: int | None, until_ns: int | None) -> float:
    """Return the pause between two moments in seconds, at most a day; 0 if one of them is unknown."""
    if since_ns is None or until_ns is None:
        return 0.0
    return min(max(until_ns - since_ns, 0), _THINK_MAX_NS) * _NS


_OF_THE_CONNECTION = frozenset({
    "alt-used", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
"""Headers that belong to the recorded connection, or that the sender sets anew.

Source: RFC 9110 section 7.6.1; RFC 7838 section 5 for Alt-Used, RFC 9113 section 8.2.2 for Proxy-Connection and
HTTP2-Settings."""

_OF_THE_CACHE = frozenset({"if-modified-since", "if-none-match", "if-range"})
"""Headers that belong to the browser's cache, which a new visitor does not have. If-Match and If-Unmodified-Since
do not: with these an application protects its writes. Source: RFC 9110 section 13.1."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def replayable(recorded: Sequence[tuple[str, str]]) -> Headers:
    """Return the headers to replay, in their order.

    Dropped are headers of the connection and those that Connection names, conditions set by a cache, the
    pseudo-headers of HTTP/2 (they start with a colon), and invalid ones.
    """
    dropped = _OF_THE_CONNECTION | _OF_THE_CACHE | _connection_options(recorded)
    stripped = ((name, value.strip()) for name, value in recorded)
    return tuple(
        (name, value)
        for name, value in stripped
        if name.lower() not in dropped and is_token(name) and is_value(value)
    )


def is_value(text: str) -> bool:
    """Return True if ``text`` may be a header's value: it cannot end the line. Source: RFC 9110 section 5.5."""
    return _CONTROL.search(text) is None


def value_of(headers: Sequence[tuple[str, str]], name: str) -> str | None:
    """Return the value of the first header called ``name``, given in lower case; None without any."""
    return next((value.strip() for other, value in headers if other.lower() == name), None)


def _connection_options(recorded: Sequence[tuple[str, str]]) -> frozenset[str]:
    values = (value for name, value in recorded if name.lower() == "connection")
    return frozenset(option.strip().lower() for value in values for option in value.split(","))
