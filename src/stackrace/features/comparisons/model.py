"""A published comparison as data: its sources, techniques, figures and claims.

What is written in a comparison.toml as it is here is read by these types; `reading` has the rest. A part that need
not be said is empty there.
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
    """Return what may be given alone as a list."""
    return value if isinstance(value, list) else [value]


Levels = Annotated[tuple[int, ...], BeforeValidator(listed), Field(alias="concurrency")]
"""Load levels, in connections."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The facts of the publication: on what, with which versions, how, and what its author doubted."""

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
    """Its race file."""
    quick_s: Annotated[Seconds, Field(alias="quick")]
    """Its budget with ``--quick``, in seconds."""
    quick_slice_s: Annotated[Seconds | None, Field(alias="quick_slice")] = None
    """How long a slice is with ``--quick``, where an answer takes seconds and shorter slices would see none; None:
    fitted to the budget."""
    quick_repeats: int | None = None
    """With ``--quick`` at most so many runs instead of slices: a stack that a load overwhelms would not recover in
    time for another stack's slice. None: slices."""
    quick_requests: int | None = None
    """The requests of each of these runs."""
    deviations: str = ""
    """What we do otherwise than its author, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """One way of deploying."""

    key: str = ""
    title: str
    """As published."""
    path: str
    """As it is raced today."""
    gone: str | None = None
    """Why it cannot be had any more; None where it can."""
    instead: str | None = None
    """What runs in its place, and why that one."""
    original: str | None = None
    """The path it is raced by where somebody still has it and a catalogue entry for it."""
    companion: str | None = None
    """The original of a technique it is held against (in the file: its key): both are raced as originals, or
    neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellName:
    """A cell by its names."""

    technique: str
    """The technique's key."""
    workload: str = ""
    """Empty where the part has only one."""
    concurrency: int
    """The load level, in connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure."""

    part: str = ""
    """By key."""
    cell: CellName
    metric: Metric = Metric.THROUGHPUT
    value: float
    """In ``unit``."""
    unit: str
    low: float | None = None
    """The lower end of the range it was published with."""
    high: float | None = None
    """The upper end."""
    of: str | None = None
    """The process it belongs to where it is not the whole stack's; such figures make no ratios."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """``this`` ÷ ``that`` in one metric is above, below, not above or about one; or ``this`` fails, or lives."""

    says: str
    """The claim in words."""
    part: str
    """By key."""
    metric: Metric
    kind: Kind
    this: CellName
    that: CellName | None
    """None where ``this`` is claimed to fail or to live."""
    basis: Basis = Basis.MEASURED
    ratio: float | None = None
    """As published; None where only a direction was."""

    @property
    def cells(self) -> tuple[CellName, ...]:
        """The two that are compared, or the one that it speaks of."""
        return (self.this,) if self.that is None else (self.this, self.that)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a then/now table."""

    title: str
    technique: str
    workload: str = ""

    def cell(self, level: int) -> CellName:
        """Return its cell at a load level."""
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
        """All of its rows', at all of its levels."""
        return tuple(row.cell(level) for row in self.rows for level in self.levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The workload of a part that mixes other ones, its throughput predicted from theirs."""

    part: str = ""
    technique: str
    workload: str
    concurrency: int

    @property
    def cells(self) -> tuple[CellName, ...]:
        """Its own."""
        return (self.cell(self.workload),)

    def cell(self, workload: str) -> CellName:
        """Return the cell of a workload that it mixes, or of its own."""
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
    """By key."""
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]
    mixes: tuple[Mix, ...] = ()
    lost: str = ""
    """What of it was never published in figures, or is lost."""

    def part(self, key: str) -> Part:
        """Return the part called ``key``, which must exist."""
        return next(part for part in self.parts if part.key == key)
