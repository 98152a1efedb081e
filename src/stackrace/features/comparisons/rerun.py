"""Results of running a published comparison again, for each of its claims.

Only ratios are compared: the hardware differs, so absolute figures of then mean nothing now.
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
    """Way of running a comparison again."""

    FULL = "full"
    """By the author's own protocol."""
    QUICK = "quick"
    """In minutes: short slices in quick turns, or shorter runs, until the claims are decided."""


class Ruling(StrEnum):
    """Result for a claim."""

    HOLDS = "holds"
    REVERSED = "reversed"
    SAME = "no difference that matters"
    """For a claim of a direction."""
    NOT_SO = "does not hold"
    """No difference that matters lies on the claimed side; whether one lies on the other is open."""
    UNDECIDED = "cannot be told"
    NOT_MEASURED = "not measured"

    @property
    def decides(self) -> bool:
        """True if the claim is answered."""
        return self not in (Ruling.UNDECIDED, Ruling.NOT_MEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """Outcome of a part."""

    part: str
    """Key of the part."""
    race: str | None = None
    """Id of the race; None if it could not be run."""
    trouble: str = ""
    """Reason why it could not be run."""
    answer: str = ""
    """The race's own answer in one sentence."""
    elapsed_s: float = 0.0
    difference: float = 0.05
    """The difference that does not matter, 0.05 for 5 %."""
    left_out: tuple[str, ...] = ()
    """Sentences about the stacks that could not be raced here."""
    complaints: tuple[str, ...] = ()
    """Sentences about the validity checks that complained."""


class Cause(StrEnum):
    """Cause of a missing value of a cell, or of a pair."""

    NOT_RUN = "not run"
    """The whole part could not be run."""
    LEFT_OUT = "left out"
    """The stack could not be raced here."""
    FAILED = "failed"
    """The stack failed, or was not measured: see ``Gap.failure``."""
    REFUSED = "refused"
    """Checks rejected its slices."""
    NEVER_MET = "never met"
    """No block holds both cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Reason why a claim was not measured."""

    cause: Cause
    technique: str = ""
    """Key of the cell's technique; empty if the cause does not concern a single cell."""
    failure: Failure | None = None
    """The stack's last failure, or why it was not measured; None while a running race may still measure it."""
    finding: Finding | None = None
    """The most frequent check's last finding, if slices were rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """Failures of a cell's launches."""

    failed: int
    """Failed launches."""
    launches: int
    """Launches that count."""
    errors: float
    """Share of their requests with a wrong answer or none, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """Result for ``claim``."""

    claim: Claim
    ruling: Ruling
    now: Interval | None = None
    """Our ratio with the limits of the ruling; None if too few blocks allow any."""
    blocks: int = 0
    """Number of blocks behind the ruling."""
    gap: Gap | None = None
    """Reason why it was not measured; None if it was."""
    survival: Survival | None = None
    """Failed launches; None for a claim of a ratio, or if nothing was measured."""
    difference: float = 0.05
    """The difference that does not matter, 0.05 for 5 %."""
    more_s: float | None = None
    """Seconds of further racing that would decide it; None if unknown."""

    @property
    def within(self) -> bool:
        """True if the limits leave no difference that matters."""
        now = self.now
        if now is None or now.low is None or now.high is None:
            return False
        return now.low >= 1 / (1 + self.difference) and now.high <= 1 + self.difference

    @property
    def agrees(self) -> bool | None:
        """True if the published ratio lies within our limits; None without either."""
        now, then = self.now, self.claim.ratio
        if now is None or now.low is None or now.high is None or then is None:
            return None
        return now.low <= then <= now.high


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOutcome:
    """One row of a table: its ratios to the first one, by load level; None if missing."""

    row: Row
    then: tuple[float | None, ...]
    """Ratios as published."""
    now: tuple[float | None, ...]
    """Ratios as measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutcome:
    """A published table or chart, and its results today."""

    table: Table
    rows: tuple[RowOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Prediction for a mix from its kinds of requests alone, relative to the rate of its main kind."""

    mean_of_rates: float
    """Prediction of the author's arithmetic: rates add up."""
    rate_of_mean_time: float
    """Prediction of the right arithmetic: times add up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixOutcome:
    """Throughput of a mix, and its predictions."""

    main: str
    """Workload of its main kind of requests."""
    reached: float
    """Throughput relative to that workload's."""
    now: Prediction
    """Prediction from our measurements."""
    then: Prediction | None
    """Prediction from the published figures; None if some are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Stored record of a rerun: its races."""

    id: str
    name: str
    """Name of the comparison."""
    made_at: str
    """UTC in ISO 8601."""
    number: int = field(default=0, compare=False)
    """Number that grows with each rerun stored here."""
    mode: Mode
    parts: tuple[PartOutcome, ...]
    """Each part with its race's id, or its trouble."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A comparison run again: all data for its reports."""

    kept: Kept
    comparison: Comparison
    claims: tuple[ClaimOutcome, ...]
    tables: tuple[TableOutcome, ...]
    family: int
    """Number of claims with limits."""
    confidence: float
    """Probability that none of these claims is ruled wrongly, 0.95 for 95 %."""
    host: HostFacts | None
    """The machine; None if no part was run."""
    mixes: tuple[MixOutcome, ...] = ()
    """Mixes that were measured with all their parts."""
