"""A rerun as one JSON document. All ratios are this ÷ that, or of a table's row to its first row.

What is not known is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ....base.codec import FLAT, LEFT_OUT, Form, readable
from ....base.numbers import Interval
from ....base.text import printable
from ..model import Claim, Comparison, Figure, Row, Table, Technique
from ..rerun import ClaimOutcome, PartOutcome, Rerun, Ruling, TableOutcome
from . import words


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunHead:
    """When, where and how the comparison was raced again."""

    rerun: Rerun
    host: str
    """The machine in words."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDocument:
    """What became of one race of the comparison."""

    outcome: PartOutcome
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TechniqueDocument:
    """One way of deploying."""

    title: str
    """As published."""
    path: str | None
    """As it is raced today."""
    gone: str | None
    """Why it cannot be had any more."""
    instead: str | None
    """What runs in its place, and why that one."""
    original: str | None
    """The path it is raced by where somebody still has it."""
    companion: str | None
    """The original of a technique it is held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDocument:
    """A claim, and what is to be said of it today."""

    claim: Claim
    now: Interval | None
    """The ratio as measured."""
    blocks: int
    ruling: Ruling
    within_difference: bool
    """Whether the limits leave no difference that matters."""
    published_within_limits: bool | None
    """Whether the published ratio lies within the limits; null without either."""
    reason: str
    more_s: float | None
    """Seconds of racing that would tell what cannot be told yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDocument:
    """One row of a table, by load level."""

    row: Row
    then: tuple[float | None, ...]
    now: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDocument:
    """A published table or chart: its rows against its first one, at each of its load levels."""

    table: Table
    rows: tuple[RowDocument, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDocument:
    """A published figure."""

    figure: Figure
    unit: str | None
    of: str | None
    """The process it belongs to where it is not the whole stack's."""
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunDocument:
    """A published comparison that was raced again."""

    format: Literal["stackrace-comparison"] = "stackrace-comparison"
    version: Literal[1] = 1
    comparison: Comparison
    rerun: RerunHead
    parts: tuple[PartDocument, ...]
    techniques: Mapping[str, TechniqueDocument]
    """By key."""
    claims: tuple[ClaimDocument, ...]
    tables: tuple[TableDocument, ...]
    figures: tuple[FigureDocument, ...]


_FORM = Form(
    names={
        Comparison: dict.fromkeys(("parts", "techniques", "figures", "claims", "tables", "mixes"), LEFT_OUT),
        RerunHead: {"rerun": FLAT},
        Rerun: dict.fromkeys(("comparison", "parts", "claims", "tables", "host", "mixes"), LEFT_OUT),
        PartDocument: {"outcome": FLAT},
        ClaimDocument: {"claim": FLAT},
        Claim: {"ratio": "then"},
        RowDocument: {"row": FLAT},
        TableDocument: {"table": FLAT},
        Table: {"rows": LEFT_OUT},
        FigureDocument: {"figure": FLAT},
        Figure: {"cell": FLAT, **dict.fromkeys(("unit", "of", "note"), LEFT_OUT)},
    },
    text=printable,
)


def document(rerun: Rerun) -> dict[str, Any]:
    """Return the document as plain JSON values."""
    comparison = rerun.comparison
    notes = tuple(words.mix_sentence(mix) for mix in rerun.mixes)
    made = RerunDocument(
        comparison=comparison,
        rerun=RerunHead(rerun=rerun, host=words.machine(rerun.host), notes=notes),
        parts=tuple(PartDocument(outcome=part, title=comparison.part(part.part).title) for part in rerun.parts),
        techniques={key: _technique(technique) for key, technique in comparison.techniques.items()},
        claims=tuple(map(_claim, rerun.claims)),
        tables=tuple(map(_table, rerun.tables)),
        figures=tuple(map(_figure, comparison.figures)),
    )
    return readable(made, _FORM)


def _technique(technique: Technique) -> TechniqueDocument:
    return TechniqueDocument(
        title=technique.title,
        path=technique.path or None,
        gone=technique.gone or None,
        instead=technique.instead or None,
        original=technique.original or None,
        companion=technique.companion or None,
    )


def _figure(figure: Figure) -> FigureDocument:
    return FigureDocument(figure=figure, unit=figure.unit or None, of=figure.of or None, note=figure.note or None)


def _claim(outcome: ClaimOutcome) -> ClaimDocument:
    return ClaimDocument(
        claim=outcome.claim,
        now=outcome.now,
        blocks=outcome.blocks,
        ruling=outcome.ruling,
        within_difference=outcome.within,
        published_within_limits=outcome.agrees,
        reason=words.reason(outcome),
        more_s=outcome.more_s,
    )


def _table(outcome: TableOutcome) -> TableDocument:
    ratios = zip(outcome.table.rows, outcome.then, outcome.now, strict=True)
    rows = tuple(RowDocument(row=row, then=then, now=now) for row, then, now in ratios)
    return TableDocument(table=outcome.table, rows=rows)
