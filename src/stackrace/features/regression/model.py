"""A check: the same race run by two versions of an app, to find out whether the second is slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from ...measure.load import SIGNED
from ...race.results.parts import RacePart

if TYPE_CHECKING:
    from ...race.results.race import Race

__all__ = [
    "ON_REQUEST",
    "TERMS",
    "Change",
    "Contender",
    "FailedLaunches",
    "GateAnswer",
    "GateFacts",
    "Growth",
    "Outcome",
    "Response",
    "Ruling",
    "State",
    "Terms",
    "gate_of",
    "is_check",
    "terms_of",
]


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

ON_REQUEST = frozenset({Response.P90, Response.P50})
"""What is judged only where somebody asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a response is judged. Shares: 0.05 is 5 %; of errors, percentage points."""

    allowance: float
    """A slowdown of so much is no reason to fail."""
    limit: float
    """A check passes only if it has ruled out a slowdown of so much. Between the two either answer is right."""


TERMS: Mapping[Response, Terms] = {
    Response.THROUGHPUT: Terms(allowance=0.01, limit=0.04),
    Response.CPU: Terms(allowance=0.01, limit=0.04),
    Response.P99: Terms(allowance=0.05, limit=0.20),
    Response.P90: Terms(allowance=0.05, limit=0.20),
    Response.P50: Terms(allowance=0.05, limit=0.20),
    Response.MEMORY: Terms(allowance=0.02, limit=0.06),
    Response.ERRORS: Terms(allowance=0.001, limit=0.003),
    Response.START: Terms(allowance=0.05, limit=0.20),
}
"""Unless the user says otherwise: see docs/decisions/0065-a-check-in-two-stages.md for where they come from."""


def terms_of(response: Response, allowance: float) -> Terms:
    """Return the terms of ``response`` where ``allowance`` is allowed: the zone between the two stays as wide."""
    usual = TERMS[response]
    return Terms(allowance=allowance, limit=allowance + usual.limit - usual.allowance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """What exactly one side was."""

    label: str
    """As the user would call it: ``main``, ``the work tree``."""
    revision: str = ""
    """The commit's full name; empty where the folder is under no version control."""
    changed: int = 0
    """How many files differed from that commit, or were not in it."""
    python: str = ""
    """The app's interpreter, by its path."""
    settings: str = ""
    """The Django settings module, where it was given for this side."""
    stack: str = ""
    """The stack's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts(RacePart):
    """What a race compares as a check."""

    name: ClassVar[str] = "check"
    needs_every_stack: ClassVar[bool] = True

    base: Contender
    head: Contender
    allowances: Mapping[str, float] = field(default_factory=dict)
    """What is allowed of each response that is judged, by its name."""
    packages: tuple[str, ...] = ()
    """What differs between the packages that the two lock files name, as ``flask 3.1.2 → 3.0.3``."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedLaunches:
    """How many launches of each side did not come up, answered wrongly, or died."""

    base: int = 0
    head: int = 0
    confirmed: bool = False
    """Whether that is the head's doing: four of its launches failed in a row, or seven in all, and none of the
    base's."""


class Outcome(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """Neither a slowdown nor its absence is shown."""
    REFUSED = "refused"
    """The measurements are not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """The answer of a check."""

    outcome: Outcome
    rulings: tuple[Ruling, ...]
    """In the order of ``Response``, workload by workload."""
    blocks: int = 0
    """Pairs of launches, of which some may have been refused."""
    valid: int = 0
    """Those of which neither launch was refused, or failed."""
    failed: FailedLaunches = field(default_factory=FailedLaunches)
    """A check with a failed launch of the head does not pass."""
    needed_s: float | None = None
    """About how many more seconds an undecided check needs; None where that is unknown."""

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return _CODES[self.outcome]

    @property
    def slower(self) -> tuple[Ruling, ...]:
        """What was confirmed to be slower."""
        return tuple(ruling for ruling in self.rulings if ruling.state is State.SLOWER)


_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.UNDECIDED: 3, Outcome.REFUSED: 3}


def is_check(race: Race) -> bool:
    """Tell whether ``race`` is a check."""
    return race.parts.get(GateFacts) is not None


def gate_of(race: Race) -> GateFacts:
    """Return what ``race``, which is a check, keeps of it."""
    part = race.parts.get(GateFacts)
    assert part is not None
    return part
