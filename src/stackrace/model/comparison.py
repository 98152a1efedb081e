"""A published comparison, and what running it again says about each of its claims.

Only ratios are held against each other: the hardware differs, so no absolute figure of then means anything now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .standing import Interval

__all__ = [
    "Basis",
    "CellName",
    "Claim",
    "ClaimOutcome",
    "Comparison",
    "Figure",
    "Kind",
    "Metric",
    "Mix",
    "Mode",
    "Part",
    "PartOutcome",
    "Rerun",
    "Row",
    "Ruling",
    "Source",
    "Table",
    "TableOutcome",
    "Technique",
]


class Metric(StrEnum):
    """What a figure or a claim speaks of."""

    THROUGHPUT = "throughput"
    """Right answers per second."""
    TIME = "time"
    """The time from one answer to the next, over all clients: one over the throughput, and what ab prints last."""
    LATENCY = "latency"
    """The mean time to an answer."""
    LONGEST = "longest"
    """The longest request."""
    MEMORY = "memory"
    """The whole stack's, at its peak."""
    ERRORS = "errors"
    """Requests answered wrongly or not at all, as a share."""
    CPU = "cpu"
    """Published figures only: what one process took."""


class Kind(StrEnum):
    """What a claim says of the two cells, or of its one."""

    MORE = "more"
    LESS = "less"
    NO_MORE = "no more"
    """Not more by anything that matters."""
    SAME = "same"
    """No difference that matters."""
    FAILS = "fails"
    LIVES = "lives"

    @property
    def is_ratio(self) -> bool:
        """Whether two cells are compared; failing and living are one cell's own."""
        return self not in (Kind.FAILS, Kind.LIVES)


class Basis(StrEnum):
    """What a claim rested on when it was published."""

    MEASURED = "measured"
    ANNOUNCED = "announced"
    """Expected, suspected or left out; no measurement was published."""
    WITHDRAWN = "withdrawn"
    """Measured, and taken back by its author."""


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
class Source:
    """The facts of the publication: on what, with which versions, how, and what its author doubted."""

    machine: str
    software: str
    protocol: str
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One race of a comparison. ``deviations`` is what we do otherwise than its author.

    ``quick_s`` is its budget with ``--quick``, ``quick_slice_s`` how long a slice is then (None: fitted): where an
    answer takes seconds under the highest load, shorter ones would see none. With ``quick_repeats`` the quick form
    consists of runs, too, at most so many and of ``quick_requests`` each: where a load overwhelms a stack,
    it would not be itself again in time for another stack's slice.
    """

    key: str
    title: str
    file: Path
    quick_s: float
    quick_slice_s: float | None = None
    quick_repeats: int | None = None
    quick_requests: int | None = None
    deviations: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """One way of deploying: ``title`` as published, ``path`` as it is raced today.

    Where the technique is ``gone``, that says why, ``instead`` what runs in its place and why that one, and
    ``original`` is the path it is raced by where somebody has it and a catalogue entry for it.
    """

    key: str
    title: str
    path: str
    gone: str = ""
    instead: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellName:
    """A cell by its names: a technique under a workload (empty where the part has only one) at a load level."""

    technique: str
    workload: str
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure. ``low`` and ``high`` are the range it was given with.

    ``of`` names the process it belongs to where it is not the whole stack's; such figures make no ratios.
    """

    part: str
    cell: CellName
    metric: Metric
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """``this`` ÷ ``that`` in one metric is above, below, not above or about one; or ``this`` fails, or lives.

    ``ratio`` is the published one, None where only a direction was.
    """

    says: str
    part: str
    metric: Metric
    kind: Kind
    this: CellName
    that: CellName | None
    basis: Basis = Basis.MEASURED
    ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a then/now table."""

    title: str
    technique: str
    workload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A published table or chart: its rows against its first one, at each of its load levels."""

    title: str
    part: str
    metric: Metric
    rows: tuple[Row, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The workload of a part that mixes other ones, its throughput predicted from theirs."""

    part: str
    technique: str
    workload: str
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A publication as data. ``lost`` says what of it was never published in figures, or is lost."""

    name: str
    title: str
    year: int
    source: Source
    parts: tuple[Part, ...]
    techniques: Mapping[str, Technique]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    mixes: tuple[Mix, ...] = ()
    lost: str = ""

    def part(self, key: str) -> Part:
        """Return the part called ``key``, which must exist."""
        return next(part for part in self.parts if part.key == key)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """What became of a part: its ``race``, or the ``trouble`` that kept it from being run.

    ``answer`` is the race's own standing in one sentence. ``left_out`` holds a sentence for each stack that could
    not be raced here, ``complaints`` one for each validity check that had something to say.
    """

    part: str
    race: str | None = None
    trouble: str = ""
    answer: str = ""
    elapsed_s: float = 0.0
    difference: float = 0.05
    left_out: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOutcome:
    """What running it again says about ``claim``.

    ``now`` is our ratio with the limits that the ruling rests on, None while too few blocks allow any; ``blocks``
    counts what it rests on. ``reason`` tells why it was not measured, or what was seen where failing is claimed.
    ``difference`` is what does not matter, 0.05 for 5 %. ``more_s`` is how many more seconds of racing would tell
    what cannot be told yet, None where nobody knows.
    """

    claim: Claim
    ruling: Ruling
    now: Interval | None = None
    blocks: int = 0
    reason: str = ""
    difference: float = 0.05
    more_s: float | None = None

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
class TableOutcome:
    """A table's ratios to its first row, then and now, by row and level; None where there is none."""

    table: Table
    then: tuple[tuple[float | None, ...], ...]
    now: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A comparison run again: everything its reports show.

    ``made_at`` is UTC in ISO 8601. ``family`` counts the claims that have limits: with the probability
    ``confidence`` nothing wrong is said of any of them. ``host`` is the machine in words.
    """

    id: str
    made_at: str
    mode: Mode
    comparison: Comparison
    parts: tuple[PartOutcome, ...]
    claims: tuple[ClaimOutcome, ...]
    tables: tuple[TableOutcome, ...]
    family: int
    confidence: float
    host: str
    notes: tuple[str, ...] = field(default=())

    def count(self, ruling: Ruling) -> int:
        """Return how many claims were ruled so."""
        return sum(one.ruling is ruling for one in self.claims)
