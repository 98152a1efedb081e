"""A rerun as one JSON document.

::

    format "stackrace-comparison", version 1
    comparison   name, title, year, lost, source {machine, software, protocol, doubts}
    rerun        id, made_at (UTC), mode "full" | "quick", host, confidence, family, notes
    parts        part, title, race (its id, or null), trouble, answer, elapsed_s, difference, left_out, complaints
    techniques   by key: title, path, gone, instead, original
    claims       says, part, metric, kind, basis, this, that (technique, workload, concurrency; that may be null),
                 then (the published ratio or null), now {value, low, high} or null, blocks,
                 ruling "holds" | "reversed" | "no difference that matters" | "does not hold" | "cannot be told" |
                 "not measured", within_difference, published_within_limits (or null), reason,
                 more_s (seconds of racing that would tell what cannot be told yet, or null)
    tables       title, part, metric, levels, rows [title, technique, workload, then, now (by level, or null)]
    figures      as published: part, technique, workload, concurrency, metric, value, low, high, unit, of, note

All ratios are this ÷ that, or of a table's row to its first row. What is not known is null.
"""

from __future__ import annotations

from typing import Any

from ....base.codec import FLAT, LEFT_OUT, Form, pretty, readable
from ....base.interval import Interval
from ....base.printable import printable
from ..model import CellName, Comparison, Figure, Technique
from ..rerun import ClaimOutcome, Rerun, TableOutcome
from . import words

__all__ = ["FORMAT", "VERSION", "document", "export"]

FORMAT = "stackrace-comparison"
VERSION = 1

_FORM = Form(
    names={
        Comparison: dict.fromkeys(("parts", "techniques", "figures", "claims", "tables", "mixes"), LEFT_OUT),
        Rerun: dict.fromkeys(("comparison", "parts", "claims", "tables", "host", "mixes"), LEFT_OUT),
        Technique: {"key": LEFT_OUT},
        Figure: {"cell": FLAT},
    },
    text=printable,
)


def export(rerun: Rerun) -> str:
    """Return the document as text that ends with a newline."""
    return pretty(document(rerun))


def document(rerun: Rerun) -> dict[str, object]:
    """Return the document described above."""
    comparison = rerun.comparison
    return {
        "format": FORMAT,
        "version": VERSION,
        "comparison": _plain(comparison),
        "rerun": {
            **_plain(rerun),
            "host": printable(words.machine(rerun.host)),
            "notes": [printable(words.mix_sentence(mix)) for mix in rerun.mixes],
        },
        "parts": [{**_plain(part), "title": comparison.part(part.part).title} for part in rerun.parts],
        "techniques": {key: _with_nulls(_plain(technique)) for key, technique in comparison.techniques.items()},
        "claims": [_claim(outcome) for outcome in rerun.claims],
        "tables": [_table(outcome) for outcome in rerun.tables],
        "figures": [_with_nulls(_plain(figure)) for figure in comparison.figures],
    }


def _plain(value: object, kind: Any = None) -> Any:
    return readable(value, _FORM, kind)


def _with_nulls(members: dict[str, object]) -> dict[str, object]:
    """Return ``members`` with null for text that is empty, but for the workload of a part that has only one."""
    return {name: None if value == "" and name != "workload" else value for name, value in members.items()}


def _claim(outcome: ClaimOutcome) -> dict[str, object]:
    claim = outcome.claim
    return {
        "says": claim.says,
        "part": claim.part,
        "metric": claim.metric.value,
        "kind": claim.kind.value,
        "basis": claim.basis.value,
        "this": _plain(claim.this),
        "that": _plain(claim.that, CellName | None),
        "then": claim.ratio,
        "now": _plain(outcome.now, Interval | None),
        "blocks": outcome.blocks,
        "ruling": outcome.ruling.value,
        "within_difference": outcome.within,
        "published_within_limits": outcome.agrees,
        "reason": printable(words.reason(outcome)),
        "more_s": _plain(outcome.more_s, float | None),
    }


_Ratios = tuple[float | None, ...]


def _table(outcome: TableOutcome) -> dict[str, object]:
    table = outcome.table
    ratios = zip(table.rows, outcome.then, outcome.now, strict=True)
    return {
        "title": table.title,
        "part": table.part,
        "metric": table.metric.value,
        "levels": list(table.levels),
        "rows": [{**_plain(row), "then": list(then), "now": _plain(now, _Ratios)} for row, then, now in ratios],
    }
