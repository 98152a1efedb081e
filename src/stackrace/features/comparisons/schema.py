"""What stands in a comparison.toml, table by table; pydantic refuses everything else."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ...race.request.tables import Seconds
from .model import Basis, Kind, Metric

__all__ = ["Cell", "Claim", "Document", "Figure", "Gone", "Mix", "Part", "Row", "Source", "Table", "Technique"]


def _cell(value: object) -> object:
    """A technique's name alone is a cell that takes everything else from what it stands in."""
    return {"technique": value} if isinstance(value, str) else value


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Level = Annotated[int, Field(ge=1, le=20_000)]
Levels = Annotated[list[Level], BeforeValidator(_listed), Field(min_length=1)]
Words = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    # not strict about enumerations: TOML knows only strings
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, frozen=True)


class Source(_Table):
    """``[source]``."""

    machine: Words
    software: Words
    protocol: Words
    doubts: str = ""


class Part(_Table):
    """``[parts.KEY]``."""

    title: Words
    file: Words
    quick: Seconds
    quick_slice: Seconds | None = None
    quick_repeats: Count | None = None
    quick_requests: Count | None = None
    deviations: str = ""

    @model_validator(mode="after")
    def _either(self) -> Part:
        if (self.quick_repeats is None) != (self.quick_requests is None):
            raise ValueError("quick_repeats and quick_requests go together")
        if self.quick_slice is not None and self.quick_repeats is not None:
            raise ValueError("quick_slice is for slices, quick_repeats for runs: give one of them")
        return self


class Technique(_Table):
    """``[techniques.KEY]``."""

    title: Words
    path: Words


class Gone(_Table):
    """``[[gone]]``: why a technique is no more, and what runs in its place."""

    technique: str
    why: Words
    instead: Words
    original: str = ""
    companion: str = ""


class Cell(_Table):
    """A cell; what is not given is taken from the claim."""

    technique: str
    workload: str | None = None
    concurrency: Level | None = None


class Figure(_Table):
    """One row of ``figure``."""

    part: str | None = None
    technique: str
    workload: str = ""
    concurrency: Level
    metric: Metric = Metric.THROUGHPUT
    value: Positive
    unit: Words
    low: Positive | None = None
    high: Positive | None = None
    of: str = ""
    note: str = ""


class Claim(_Table):
    """``[[claim]]``: made once for each of its workloads and levels."""

    says: Words
    part: str | None = None
    metric: Metric = Metric.THROUGHPUT
    kind: Kind
    this: Annotated[Cell, BeforeValidator(_cell)]
    that: Annotated[Cell | None, BeforeValidator(lambda value: None if value is None else _cell(value))] = None
    workload: Annotated[list[str], BeforeValidator(_listed)] = [""]
    concurrency: Levels
    basis: Basis = Basis.MEASURED
    ratio: Positive | None = None

    @model_validator(mode="after")
    def _two_cells_make_a_ratio(self) -> Claim:
        if self.kind.is_ratio and self.that is None:
            raise ValueError(f"kind {self.kind.value!r} compares two cells; say against what with: that")
        if not self.kind.is_ratio and (self.that is not None or self.ratio is not None):
            raise ValueError(f"kind {self.kind.value!r} speaks of one cell: leave out that and ratio")
        if self.metric in (Metric.CPU, Metric.ERRORS) and self.kind.is_ratio:
            raise ValueError(f"metric {self.metric.value!r} makes no ratios; use kind fails or lives for errors")
        return self


class Row(_Table):
    """One row of a table."""

    title: Words
    technique: str
    workload: str = ""


class Table(_Table):
    """``[[table]]``: a published table or chart."""

    title: Words
    part: str | None = None
    metric: Metric = Metric.THROUGHPUT
    concurrency: Levels
    rows: Annotated[list[Row], Field(min_length=2)]


class Mix(_Table):
    """``[[mix]]``: a workload made of others, its throughput predicted from theirs."""

    part: str | None = None
    technique: str
    workload: Words
    concurrency: Level


class Document(_Table):
    """The whole file."""

    title: Words
    year: Annotated[int, Field(ge=1990, le=2100)]
    lost: str = ""
    source: Source
    parts: Annotated[dict[str, Part], Field(min_length=1)]
    techniques: Annotated[dict[str, Technique], Field(min_length=1)]
    gone: list[Gone] = []
    figure: list[Figure] = []
    table: list[Table] = []
    mix: list[Mix] = []
    claim: Annotated[list[Claim], Field(min_length=1)]

    def part_of(self, part: str | None) -> str:
        """Return the part's key; where there is a single part it need not be said."""
        return part if part is not None else next(iter(self.parts)) if len(self.parts) == 1 else ""
