"""Reader of comparison.toml. A test checks that its names are those of techniques, parts and race files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from .model import (
    Basis,
    CellName,
    Claim,
    Comparison,
    Figure,
    Kind,
    Levels,
    Metric,
    Mix,
    Part,
    Source,
    Table,
    Technique,
    listed,
)
from .ratios import published_ratio


class _Table(BaseModel):
    # not strict about enumerations: TOML knows only strings
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Cell(_Table):
    """A cell of a claim; missing values come from the claim."""

    technique: str
    workload: str | None = None
    concurrency: int | None = None

    def of(self, workload: str, level: int) -> CellName:
        return CellName(
            technique=self.technique,
            workload=workload if self.workload is None else self.workload,
            concurrency=level if self.concurrency is None else self.concurrency,
        )


def _as_cell(value: object) -> object:
    """Return a cell for ``value``: a technique's name alone takes all other values from its claim."""
    return {"technique": value} if isinstance(value, str) else value


class _Claim(_Table):
    """``[[claim]]``, repeated for each of its workloads and levels."""

    says: str
    part: str = ""
    metric: Metric = Metric.THROUGHPUT
    kind: Kind
    this: Annotated[_Cell, BeforeValidator(_as_cell)]
    that: Annotated[_Cell | None, BeforeValidator(_as_cell)] = None
    workload: Annotated[list[str], BeforeValidator(listed)] = [""]
    levels: Levels
    basis: Basis = Basis.MEASURED
    ratio: float | None = None


def _with_cell(figure: dict[str, Any]) -> dict[str, Any]:
    names = {"technique", "workload", "concurrency"} & figure.keys()
    return {name: figure[name] for name in figure.keys() - names} | {"cell": {name: figure[name] for name in names}}


class _Document(_Table):
    """The whole file. If it has a single part, figures, tables, mixes and claims do not name it."""

    title: str
    year: int
    lost: str = ""
    source: Source
    parts: dict[str, Part]
    techniques: dict[str, Technique]
    figure: list[Annotated[Figure, BeforeValidator(_with_cell)]] = []
    table: list[Table] = []
    mix: list[Mix] = []
    claim: list[_Claim]


def read_comparison(name: str) -> Comparison:
    """Return the published comparison ``name``, one of ``NAMES``."""
    folder = Path(__file__).parent / name
    document = _Document.model_validate(tomllib.loads((folder / "comparison.toml").read_text(encoding="utf-8")))
    only, *others = document.parts
    default = "" if others else only
    figures = tuple(replace(entry, part=entry.part or default) for entry in document.figure)
    techniques = document.techniques
    return Comparison(
        name=name,
        title=document.title,
        year=document.year,
        source=document.source,
        parts=tuple(replace(part, key=key, file=folder / part.file) for key, part in document.parts.items()),
        techniques={
            key: replace(each, key=key, companion=each.companion and techniques[each.companion].original)
            for key, each in techniques.items()
        },
        figures=figures,
        claims=tuple(claim for entry in document.claim for claim in _claims(entry, default, figures)),
        tables=tuple(replace(entry, part=entry.part or default) for entry in document.table),
        mixes=tuple(replace(entry, part=entry.part or default) for entry in document.mix),
        lost=document.lost,
    )


def _claims(entry: _Claim, default: str, figures: tuple[Figure, ...]) -> Iterator[Claim]:
    part = entry.part or default
    for workload in entry.workload:
        for level in entry.levels:
            this = entry.this.of(workload, level)
            that = None if entry.that is None else entry.that.of(workload, level)
            ratio = entry.ratio
            if ratio is None and that is not None:
                ratio = published_ratio(figures, part, entry.metric, this, that)
            yield Claim(
                says=entry.says, part=part, metric=entry.metric, kind=entry.kind, this=this, that=that,
                basis=entry.basis, ratio=ratio,
            )  # fmt: skip
