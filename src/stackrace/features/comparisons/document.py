"""A rerun as one JSON document. All ratios are this ÷ that, or of a table's row to its first row.

What is not known is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...base.text import printable
from . import words
from .model import Claim, Comparison, Figure, Table, Technique
from .rerun import ClaimOutcome, Kept, PartOutcome, Rerun, RowOutcome, TableOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """When, where and how the comparison was raced again."""

    rerun: Rerun
    host: str
    """The machine in words."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What became of one race of the comparison."""

    outcome: PartOutcome
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A claim, and what is to be said of it today."""

    outcome: ClaimOutcome
    within_difference: bool
    """Whether the limits leave no difference that matters."""
    published_within_limits: bool | None
    """Whether the published ratio lies within the limits; null without either."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A published comparison that was raced again."""

    format: Literal["stackrace-comparison"] = "stackrace-comparison"
    version: Literal[1] = 1
    comparison: Comparison
    rerun: _Head
    parts: tuple[_Part, ...]
    techniques: Mapping[str, Technique]
    """By key."""
    claims: tuple[_Claim, ...]
    tables: tuple[TableOutcome, ...]
    figures: tuple[Figure, ...]


_FORM = Form(
    names={
        Comparison: dict.fromkeys(("parts", "techniques", "figures", "claims", "tables", "mixes"), LEFT_OUT),
        _Head: {"rerun": FLAT},
        Rerun: {"kept": FLAT, **dict.fromkeys(("comparison", "claims", "tables", "host", "mixes"), LEFT_OUT)},
        Kept: dict.fromkeys(("name", "number", "parts"), LEFT_OUT),
        _Part: {"outcome": FLAT},
        Technique: {"key": LEFT_OUT},
        _Claim: {"outcome": FLAT},
        ClaimOutcome: {"claim": FLAT, **dict.fromkeys(("gap", "survival", "difference"), LEFT_OUT)},
        Claim: {"ratio": "then"},
        TableOutcome: {"table": FLAT},
        Table: {"rows": LEFT_OUT},
        RowOutcome: {"row": FLAT},
        Figure: {"cell": FLAT},
    },
    text=printable,
)


def document(rerun: Rerun) -> dict[str, Any]:
    """Return the document as plain JSON values."""
    comparison = rerun.comparison
    notes = tuple(words.mix_sentence(mix) for mix in rerun.mixes)
    made = _Document(
        comparison=comparison,
        rerun=_Head(rerun=rerun, host=words.machine(rerun.host), notes=notes),
        parts=tuple(_Part(outcome=part, title=comparison.part(part.part).title) for part in rerun.kept.parts),
        techniques=comparison.techniques,
        claims=tuple(map(_claim, rerun.claims)),
        tables=rerun.tables,
        figures=comparison.figures,
    )
    return readable(made, _FORM)


def _claim(outcome: ClaimOutcome) -> _Claim:
    return _Claim(
        outcome=outcome,
        within_difference=outcome.within,
        published_within_limits=outcome.agrees,
        reason=words.reason(outcome),
    )
