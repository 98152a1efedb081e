"""Why a recorded request is left out, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class Skip(StrEnum):
    """A reason to leave a request out, in words that follow "left out: "."""

    UNREADABLE = "not a readable entry"
    SCHEME = "neither http nor https (data:, ws:, a browser extension)"
    OTHER_SERVER = "sent to another server"
    METHOD = "its method cannot be replayed"
    WEB_SOCKET = "a WebSocket"
    EVENT_STREAM = "an event stream, which has no end"
    OWN_ANSWER = "answered by the browser itself, out of its cache or by a service worker"
    NO_ANSWER = "failed, blocked or never answered"
    BODY_MISSING = "its body is not in the file"
    BODY_DAMAGED = "its body is not whole in the file"
    LINE = "not a line of the common or combined format"
    REQUEST_LINE = "its request line is malformed"
    BODY_NOT_LOGGED = "its body is not in the log"
    ANSWER_NOT_LOGGED = "no answer to it is in the log"


Skipped = Mapping[Skip, int]
"""How often each reason was met, in the order of ``Skip``."""


class Skips:
    """Counts reasons, and remembers where each was met first."""

    def __init__(self) -> None:
        self._counts: Counter[Skip] = Counter()
        self._first: dict[Skip, int] = {}

    def count(self, reason: Skip, place: int) -> None:
        """Count ``reason``, met at ``place``: the number of an entry or a line."""
        self._counts[reason] += 1
        self._first.setdefault(reason, place)

    def most_frequent(self) -> tuple[Skip, int] | None:
        """Return the reason met most often, the last of several, and its first place."""
        if not self._counts:
            return None
        reason = max(reversed(Skip), key=self._counts.__getitem__)
        return reason, self._first[reason]

    def counts(self) -> Skipped:
        """Return the reasons that were met with their numbers."""
        return {reason: self._counts[reason] for reason in Skip if self._counts[reason]}


class LeftOut(Exception):  # noqa: N818 (no error: the request is left out, and counted)
    """Leaves a request out, for ``skip``."""

    def __init__(self, skip: Skip) -> None:
        super().__init__(skip)
        self.skip = skip
