"""A published comparison as data: its sources, techniques, figures and claims.

These types also read the parts of a comparison.toml that have the same form; `reading` has the rest. Optional parts
are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ...race.request.tables import Seconds


def listed(value: object) -> object:
    """Return ``value`` as a list; it may be given as a single value."""
    return value if isinstance(value, list) else [value]


Levels = Annotated[tuple[int, ...], BeforeValidator(listed), Field(alias="concurrency")]
"""Load levels, in connections."""


class Metric(StrEnum):
    """Quantity of a figure or a claim."""

    THROUGHPUT = "throughput"
    """Right answers per second."""
    TIME = "time"
    """Time from one answer to the next, over all clients: one over the throughput, and ab's last figure."""
    LATENCY = "latency"
    """Mean response time."""
    LONGEST = "longest"
    """Time of the longest request."""
    MEMORY = "memory"
    """Peak memory of the whole stack."""
    ERRORS = "errors"
    """Share of requests that got a wrong answer or none."""
    CPU = "cpu"
    """CPU time of one process; published figures only."""


class Kind(StrEnum):
    """Statement of a claim about its two cells, or its single one."""

    MORE = "more"
    LESS = "less"
    NO_MORE = "no more"
    """The first is not higher by a difference that matters."""
    SAME = "same"
    """No difference that matters."""
    FAILS = "fails"
    LIVES = "lives"

    @property
    def is_ratio(self) -> bool:
        """True if two cells are compared; failing and living concern a single cell."""
        return self not in (Kind.FAILS, Kind.LIVES)


class Basis(StrEnum):
    """Evidence for a claim when it was published."""

    MEASURED = "measured"
    ANNOUNCED = "announced"
    """Expected, suspected or left out; without a published measurement."""
    WITHDRAWN = "withdrawn"
    """Measured, but withdrawn by its author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Facts of the publication: machine, versions, protocol, and the author's doubts."""

    machine: str
    software: str
    protocol: str
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One race of a comparison."""

    key: str = ""
    title: str
    file: Path
    """Path of its race file."""
    quick_s: Annotated[Seconds, Field(alias="quick")]
    """Budget with ``--quick``, in seconds."""
    quick_slice_s: Annotated[Seconds | None, Field(alias="quick_slice")] = None
    """Length of a slice with ``--quick``, for answers that take seconds, which shorter slices would miss; None:
    fitted to the budget."""
    quick_repeats: int | None = None
    """The most runs with ``--quick``, in place of slices: an overloaded stack would not recover in time for another
    stack's slice. None: slices."""
    quick_requests: int | None = None
    """Requests of each of these runs."""
    deviations: str = ""
    """Our deviations from the author's protocol, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """One way of deploying."""

    key: str = ""
    title: str
    """Title as published."""
    path: str
    """Path of the stack that is raced today."""
    gone: str | None = None
    """Reason why it is not available any more; None if it is."""
    instead: str | None = None
    """Replacement, and the reason for it."""
    original: str | None = None
    """Path of the original, raced where it is still installed and has a catalogue entry."""
    companion: str | None = None
    """The original of a technique that it is compared with (in the file: its key): both are raced as originals, or
    neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellName:
    """Names of a cell."""

    technique: str
    """Key of the technique."""
    workload: str = ""
    """Name of the workload; empty if the part has only one."""
    concurrency: int
    """Load level, in connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure."""

    part: str = ""
    """Key of the part."""
    cell: CellName
    metric: Metric = Metric.THROUGHPUT
    value: float
    """Value in ``unit``."""
    unit: str
    low: float | None = None
    """The lower end of the published range."""
    high: float | None = None
    """The upper end of the published range."""
    of: str | None = None
    """Process of the figure, if it is not about the whole stack; such figures make no ratios."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """``this`` ÷ ``that`` in one metric is above, below, not above or about one; or ``this`` fails, or lives."""

    says: str
    """The claim in words."""
    part: str
    """Key of the part."""
    metric: Metric
    kind: Kind
    this: CellName
    that: CellName | None
    """Second cell; None for a claim that ``this`` fails or lives."""
    basis: Basis = Basis.MEASURED
    ratio: float | None = None
    """Ratio as published; None if only a direction was."""

    @property
    def cells(self) -> tuple[CellName, ...]:
        """The two compared cells, or the single one."""
        return (self.this,) if self.that is None else (self.this, self.that)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a then/now table."""

    title: str
    technique: str
    workload: str = ""

    def cell(self, level: int) -> CellName:
        """Return the row's cell at a load level."""
        return CellName(technique=self.technique, workload=self.workload, concurrency=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A published table or chart: its rows against its first one, at each of its load levels."""

    title: str
    part: str = ""
    metric: Metric = Metric.THROUGHPUT
    rows: tuple[Row, ...]
    levels: Levels

    @property
    def cells(self) -> tuple[CellName, ...]:
        """All cells of its rows and levels."""
        return tuple(row.cell(level) for row in self.rows for level in self.levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Workload of a part that mixes others, with a throughput predicted from theirs."""

    part: str = ""
    technique: str
    workload: str
    concurrency: int

    @property
    def cells(self) -> tuple[CellName, ...]:
        """The mix's own cell."""
        return (self.cell(self.workload),)

    def cell(self, workload: str) -> CellName:
        """Return the cell of a mixed workload, or of the mix itself."""
        return CellName(technique=self.technique, workload=workload, concurrency=self.concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A publication as data."""

    name: str
    title: str
    year: int
    source: Source
    parts: tuple[Part, ...]
    techniques: Mapping[str, Technique]
    """Techniques by key."""
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    mixes: tuple[Mix, ...] = ()
    lost: str = ""
    """Results that were never published in figures, or are lost."""

    def part(self, key: str) -> Part:
        """Return the part called ``key``, which must exist."""
        return next(part for part in self.parts if part.key == key)
