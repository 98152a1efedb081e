"""What running a published comparison again says about each of its claims.

Only ratios are held against each other: the hardware differs, so no absolute figure of then means anything now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ...base.numbers import Interval
from ...base.verdict import Finding
from ...measure.host import HostFacts
from ...measure.launch import Failure
from .model import Claim, Comparison, Row, Table


class Mode(StrEnum):
    """How a comparison is run again."""

    FULL = "full"
    """By the author's own protocol."""
    QUICK = "quick"
    """In minutes: short slices in quick turns, or shorter runs, until the claims are told."""


class Ruling(StrEnum):
    """What running it again says about a claim."""

    HOLDS = "holds"
    REVERSED = "reversed"
    SAME = "no difference that matters"
    """Said of a claim of a direction."""
    NOT_SO = "does not hold"
    """Nothing that matters lies on the side that was claimed; whether something does on the other is open."""
    UNDECIDED = "cannot be told"
    NOT_MEASURED = "not measured"

    @property
    def decides(self) -> bool:
        """Whether the claim is answered."""
        return self not in (Ruling.UNDECIDED, Ruling.NOT_MEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """What became of a part."""

    part: str
    """By key."""
    race: str | None = None
    """The race's id; None where it could not be run."""
    trouble: str = ""
    """What kept it from being run."""
    answer: str = ""
    """The race's own standing in one sentence."""
    elapsed_s: float = 0.0
    difference: float = 0.05
    """What does not matter, 0.05 for 5 %."""
    left_out: tuple[str, ...] = ()
    """A sentence for each stack that could not be raced here."""
    complaints: tuple[str, ...] = ()
    """A sentence for each validity check that complained."""


class Cause(StrEnum):
    """Why a cell, or a pair of them, has no value."""

    NOT_RUN = "not run"
    """The whole part could not be."""
    LEFT_OUT = "left out"
    """The stack could not be raced here."""
    FAILED = "failed"
    """The stack failed, or was not measured: ``Gap.failure`` says why."""
    REFUSED = "refused"
    """Checks refused its slices."""
    NEVER_MET = "never met"
    """No block holds both cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Why a claim was not measured."""

    cause: Cause
    technique: str = ""
    """The key of the cell's technique; empty where the cause is not a single cell's."""
    failure: Failure | None = None
    """The last one of the stack, or why it was not measured; None while a race runs that may still do so."""
    finding: Finding | None = None
    """The most frequent check's last one, where slices were refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """How many of a cell's launches failed."""

    failed: int
    """Launches that failed."""
    launches: int
    """All launches that say something."""
    errors: float
    """The share of their requests that were answered wrongly or not at all, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """What running it again says about ``claim``."""

    claim: Claim
    ruling: Ruling
    now: Interval | None = None
    """Our ratio with the limits that the ruling rests on; None while too few blocks allow any."""
    blocks: int = 0
    """How many blocks the ruling rests on."""
    gap: Gap | None = None
    """Why it was not measured; None where it was."""
    survival: Survival | None = None
    """How many launches failed; None where a ratio is claimed, or nothing was measured."""
    difference: float = 0.05
    """What does not matter, 0.05 for 5 %."""
    more_s: float | None = None
    """How many more seconds of racing would decide it; None where nobody knows."""

    @property
    def within(self) -> bool:
        """Whether the limits leave no difference that matters."""
        now = self.now
        if now is None or now.low is None or now.high is None:
            return False
        return now.low >= 1 / (1 + self.difference) and now.high <= 1 + self.difference

    @property
    def agrees(self) -> bool | None:
        """Whether the published ratio lies within our limits; None without either."""
        now, then = self.now, self.claim.ratio
        if now is None or now.low is None or now.high is None or then is None:
            return None
        return now.low <= then <= now.high


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOutcome:
    """One row of a table: its ratios to the first one, by load level. None where there is none."""

    row: Row
    then: tuple[float | None, ...]
    """As published."""
    now: tuple[float | None, ...]
    """As measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutcome:
    """A published table or chart, and what running it again gave."""

    table: Table
    rows: tuple[RowOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a mix should reach by what its kinds of requests reach alone, relative to the rate of its main kind."""

    mean_of_rates: float
    """By the author's arithmetic: rates add up."""
    rate_of_mean_time: float
    """By the right one: times add up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixOutcome:
    """What a mix reached, and what was predicted."""

    main: str
    """The workload of its main kind of requests."""
    reached: float
    """Its throughput relative to that workload's."""
    now: Prediction
    """From what was measured."""
    then: Prediction | None
    """From the published figures; None where some are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of a rerun: which races it is made of."""

    id: str
    name: str
    """Of the comparison."""
    made_at: str
    """UTC in ISO 8601."""
    number: int = field(default=0, compare=False)
    """Grows with each that is kept here."""
    mode: Mode
    parts: tuple[PartOutcome, ...]
    """Each part with its race's id, or the trouble it met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A comparison run again: everything its reports show."""

    kept: Kept
    comparison: Comparison
    claims: tuple[ClaimOutcome, ...]
    tables: tuple[TableOutcome, ...]
    family: int
    """How many claims have limits."""
    confidence: float
    """The probability that none of these claims is ruled wrongly, 0.95 for 95 %."""
    host: HostFacts | None
    """The machine; None where no part was run."""
    mixes: tuple[MixOutcome, ...] = ()
    """Those that were measured with all they mix."""
