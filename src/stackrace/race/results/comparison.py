"""Head against base: the result of a race of two sides, for each response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...measure.load import SIGNED


class Response(StrEnum):
    """A quantity that a check judges by itself."""

    THROUGHPUT = "throughput"
    """Right answers per second. More is better; for all other responses, less is better."""
    CPU = "cpu"
    """CPU time per right answer, of the stack and its services."""
    P99 = "p99"
    """The 99th percentile of latency, over all of a side's launches together."""
    P90 = "p90"
    """The 90th percentile; judged only on request."""
    P50 = "p50"
    """The median; judged only on request."""
    MEMORY = "memory"
    """The peak of the stack's proportional set size."""
    ERRORS = "errors"
    """The share of requests that got a wrong answer or none."""
    START = "start"
    """Seconds from the start of a stack's first process to its first right answer."""

    @property
    def of_launch(self) -> bool:
        """True if a launch has a single value of it for all workloads."""
        return self in (Response.MEMORY, Response.START)

    @property
    def quantile(self) -> float | None:
        """The quantile of latency that it is; None for other responses."""
        return _QUANTILES.get(self)


_QUANTILES = {Response.P99: 0.99, Response.P90: 0.9, Response.P50: 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Limits by which a response is judged. Shares: 0.05 is 5 %; for errors, percentage points."""

    allowance: float
    """Slowdown up to which a check must not fail."""
    limit: float
    """Slowdown that a check must rule out to pass. Between the two, passing and failing are both right."""


class State(StrEnum):
    """State of one response."""

    CLEAR = "clear"
    """A slowdown beyond its limit is ruled out."""
    SLOWER = "slower"
    """Slower than allowed: an alarm that fresh launches confirmed by themselves."""
    ALARM = "alarm"
    """Alarm that fresh launches have neither confirmed nor ruled out yet."""
    OPEN = "open"
    """Too little was measured to decide."""
    UNKNOWN = "unknown"
    """The response could not be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Change for the worse: 0.05 for 5 % slower, larger or longer, or 5 percentage points more errors."""

    value: float = field(metadata=SIGNED)
    """The estimate; below 0 the head is better."""
    low: float | None = field(default=None, metadata=SIGNED)
    """The lower limit; null while there is none."""
    high: float | None = field(default=None, metadata=SIGNED)
    """The upper limit: so much could have been missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Growth of memory with every request, within launches."""

    base_bytes: float = field(metadata=SIGNED)
    """Bytes per request of the base."""
    head_bytes: float = field(metadata=SIGNED)
    """Bytes per request of the head."""
    proved: bool
    """True if the head's memory is proved to grow, and faster than the base's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """Result of a check for one response."""

    response: Response
    """The response that was compared."""
    state: State
    """The state that the measurements prove."""
    terms: Terms
    workload: str = ""
    """Name of the workload; empty if there is only one, and for responses that a launch has one value of."""
    base: float | None = None
    """The base's geometric mean over the pairs, in the response's own unit; for errors the mean share, for a
    quantile the quantile of all answers."""
    head: float | None = None
    change: Change | None = None
    """Change with the limits of the state; after an alarm those of later launches, if there are any."""
    blocks: int = 0
    """Pairs of launches that it rests on; after an alarm only later ones."""
    alarm: int | None = None
    """Pairs of launches after which an alarm was raised; None without an alarm."""
    answers: int | None = None
    """For a quantile: right answers of the side with fewer, over all launches."""
    growth: Growth | None = None
    """For memory that is not clear: its growth; None if unknown."""

    @property
    def missed(self) -> float | None:
        """The largest slowdown that could have been missed; None if no limit is known."""
        return None if self.change is None else self.change.high


class Outcome(StrEnum):
    """Outcome of a check."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Neither a slowdown nor its absence is proved."""
    REFUSED = "refused"
    """The measurements are not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of a race of two sides, for reports."""

    base: str
    """Name of the base with its short commit."""
    head: str
    """Name of the head with its short commit."""
    stack: str
    """Path of the stack."""
    outcome: Outcome
    """The outcome."""
    rulings: tuple[Ruling, ...]
    """One ruling for each response."""
    changes: Mapping[Response, str] = field(default_factory=dict)
    """Change of each response in words, with limits."""
