"""Head against base: what a race of two sides says of each response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...measure.load import SIGNED


class Response(StrEnum):
    """What a check judges, each by itself."""

    THROUGHPUT = "throughput"
    """Right answers per second. More of it is better; of all others, less is."""
    CPU = "cpu"
    """CPU time per right answer, of the stack and the services beside it."""
    P99 = "p99"
    """The 99th percentile of the latency of a side's answers, those of all its launches together."""
    P90 = "p90"
    """The 90th; judged only where somebody asks for it."""
    P50 = "p50"
    """The median; the same."""
    MEMORY = "memory"
    """The peak of the stack's proportional set size."""
    ERRORS = "errors"
    """The share of requests that were answered wrongly or not at all."""
    START = "start"
    """Seconds from the start of a stack's first process to its first right answer."""

    @property
    def of_launch(self) -> bool:
        """Whether a launch has one value of it, whatever workloads it meets."""
        return self in (Response.MEMORY, Response.START)

    @property
    def quantile(self) -> float | None:
        """Which quantile of latency it is, if it is one."""
        return _QUANTILES.get(self)


_QUANTILES = {Response.P99: 0.99, Response.P90: 0.9, Response.P50: 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a response is judged. Shares: 0.05 is 5 %; of errors, percentage points."""

    allowance: float
    """A slowdown of so much is no reason to fail."""
    limit: float
    """A check passes only if it has ruled out a slowdown of so much. Between the two either answer is right."""


class State(StrEnum):
    """What is known of one response."""

    CLEAR = "clear"
    """A slowdown beyond its limit is ruled out."""
    SLOWER = "slower"
    """Slower than allowed: an alarm, confirmed by fresh launches alone."""
    ALARM = "alarm"
    """An alarm that fresh launches have neither confirmed nor ruled out yet."""
    OPEN = "open"
    """Not enough was measured to say either."""
    UNKNOWN = "unknown"
    """It could not be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How much worse the head is: 0.05 for 5 % slower, larger or longer, or 5 percentage points more errors."""

    value: float = field(metadata=SIGNED)
    """The estimate; below 0 the head is better."""
    low: float | None = field(default=None, metadata=SIGNED)
    """The lower limit; null while there is none."""
    high: float | None = field(default=None, metadata=SIGNED)
    """The upper limit: so much could have been missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """By how much memory grows with every request, within launches."""

    base_bytes: float = field(metadata=SIGNED)
    """Per request."""
    head_bytes: float = field(metadata=SIGNED)
    """Per request."""
    proved: bool
    """Whether the head's surely grows, and faster than the base's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a check says of one response."""

    response: Response
    """What was compared."""
    state: State
    """What is shown of it."""
    terms: Terms
    workload: str = ""
    """By name; empty where there is only one, and for what a launch has one value of."""
    base: float | None = None
    """The geometric mean of the pairs' values, in the response's own unit; of errors, the mean share; of a quantile
    that of all answers."""
    head: float | None = None
    change: Change | None = None
    """With the limits that the state rests on; of an alarm without launches made since, those that raised it."""
    blocks: int = 0
    """How many pairs of launches it rests on: after an alarm only those made since."""
    alarm: int | None = None
    """After how many pairs there was an alarm; None without."""
    answers: int | None = None
    """Of a quantile: right answers of the side with fewer, all launches together."""
    growth: Growth | None = None
    """Of memory that is not clear: how fast it grows; None where that is unknown."""

    @property
    def missed(self) -> float | None:
        """The largest slowdown that could have been missed; None where nothing limits it."""
        return None if self.change is None else self.change.high


class Outcome(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Neither a slowdown nor its absence is shown."""
    REFUSED = "refused"
    """The measurements are not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a race of two sides said, for those who only show it."""

    base: str
    """What the base was, as people call it, with its commit, short."""
    head: str
    """What the head was."""
    stack: str
    """By path."""
    outcome: Outcome
    """What it answered."""
    rulings: tuple[Ruling, ...]
    """One for each response."""
    changes: Mapping[Response, str] = field(default_factory=dict)
    """How each response changed, in words with limits."""
