"""What a recording holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stackrace.measure.workload import Fill, Handout

from .skip import Skipped

MAX_STEPS = 1_000_000
"""The most steps a recording may have. Every thread of the engine holds each of them, rendered."""

THINK_MAX_NS = 24 * 3600 * 10**9
"""The longest pause kept, a day: who pauses longer has come back another time."""

Headers = tuple[tuple[str, str], ...]


class RecordingError(ValueError):
    """The file cannot be replayed. The message says why, and the way out."""


class Step(NamedTuple):
    """One recorded request with what is known of its answer."""

    method: str
    path: str
    """Path and query, starting with a slash; what may not stand in a request line is percent-encoded."""
    headers: Headers = ()
    """Without those that belong to the recorded connection or to the browser's cache. Accept-Encoding stays: a
    replay asks for what was asked for. A recorded Cookie stays, too."""
    body: bytes = b""
    status: int | None = None
    """The status to expect; None where the recorded one says nothing about a new visitor's, as 304 does."""
    answer: bytes | None = None
    """The answer's body; only where its bytes are certain, so never one with a content coding."""
    think_ns: int = 0
    """The pause before the request, at most a day."""
    embedded: bool = False
    """Whether it belongs to the page before it, as style sheets, scripts and images do."""
    handouts: tuple[Handout, ...] = ()
    """What of its answer later steps send back."""
    fills: tuple[Fill, ...] = ()
    """Where it sends back what earlier answers gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of one visitor's session, or of a log, in order; at least one."""

    is_session: bool
    origin: str | None
    """Where the requests were sent, as "http://host:port" without a default port; a log does not say."""
    steps: Sequence[Step]
    skipped: Skipped
    """How many requests were left out, by reason."""


def pause_ns(since_ns: int | None, until_ns: int | None) -> int:
    """Return the pause between two moments, within its bounds; 0 where one of them is not known."""
    if since_ns is None or until_ns is None:
        return 0
    return min(max(until_ns - since_ns, 0), THINK_MAX_NS)
