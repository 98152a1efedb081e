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

import json
import math

from ...model.comparison import CellName, ClaimOutcome, Figure, PartOutcome, Rerun, TableOutcome, Technique
from ...model.standing import Interval
from ..clean import printable

__all__ = ["FORMAT", "VERSION", "JsonExporter", "document"]

FORMAT = "stackrace-comparison"
VERSION = 1


class JsonExporter:
    """Writes the document, indented."""

    def export(self, rerun: Rerun) -> str:
        """Return the document as text that ends with a newline."""
        return json.dumps(document(rerun), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(rerun: Rerun) -> dict[str, object]:
    """Return the document described above."""
    comparison, source = rerun.comparison, rerun.comparison.source
    return {
        "format": FORMAT,
        "version": VERSION,
        "comparison": {
            "name": comparison.name,
            "title": comparison.title,
            "year": comparison.year,
            "lost": comparison.lost,
            "source": {
                "machine": source.machine,
                "software": source.software,
                "protocol": source.protocol,
                "doubts": source.doubts,
            },
        },
        "rerun": {
            "id": rerun.id,
            "made_at": rerun.made_at,
            "mode": rerun.mode.value,
            "host": printable(rerun.host),
            "confidence": rerun.confidence,
            "family": rerun.family,
            "notes": [printable(note) for note in rerun.notes],
        },
        "parts": [_part(rerun, one) for one in rerun.parts],
        "techniques": {key: _technique(one) for key, one in comparison.techniques.items()},
        "claims": [_claim(one) for one in rerun.claims],
        "tables": [_table(one) for one in rerun.tables],
        "figures": [_figure(one) for one in comparison.figures],
    }


def _part(rerun: Rerun, one: PartOutcome) -> dict[str, object]:
    return {
        "part": one.part,
        "title": rerun.comparison.part(one.part).title,
        "race": one.race,
        "trouble": printable(one.trouble),
        "answer": printable(one.answer),
        "elapsed_s": one.elapsed_s,
        "difference": one.difference,
        "left_out": [printable(told) for told in one.left_out],
        "complaints": [printable(told) for told in one.complaints],
    }


def _technique(one: Technique) -> dict[str, object]:
    return {
        "title": one.title,
        "path": one.path,
        "gone": one.gone or None,
        "instead": one.instead or None,
        "original": one.original or None,
    }


def _claim(one: ClaimOutcome) -> dict[str, object]:
    claim = one.claim
    return {
        "says": claim.says,
        "part": claim.part,
        "metric": claim.metric.value,
        "kind": claim.kind.value,
        "basis": claim.basis.value,
        "this": _cell(claim.this),
        "that": None if claim.that is None else _cell(claim.that),
        "then": claim.ratio,
        "now": None if one.now is None else _interval(one.now),
        "blocks": one.blocks,
        "ruling": one.ruling.value,
        "within_difference": one.within,
        "published_within_limits": one.agrees,
        "reason": printable(one.reason),
        "more_s": None if one.more_s is None else _finite(one.more_s),
    }


def _cell(cell: CellName) -> dict[str, object]:
    return {"technique": cell.technique, "workload": cell.workload, "concurrency": cell.concurrency}


def _interval(one: Interval) -> dict[str, object]:
    return {"value": _finite(one.value), "low": _finite(one.low), "high": _finite(one.high)}


def _table(one: TableOutcome) -> dict[str, object]:
    return {
        "title": one.table.title,
        "part": one.table.part,
        "metric": one.table.metric.value,
        "levels": list(one.table.levels),
        "rows": [
            {
                "title": row.title,
                "technique": row.technique,
                "workload": row.workload,
                "then": list(then),
                "now": [_finite(value) for value in now],
            }
            for row, then, now in zip(one.table.rows, one.then, one.now, strict=True)
        ],
    }


def _figure(one: Figure) -> dict[str, object]:
    return {
        "part": one.part,
        **_cell(one.cell),
        "metric": one.metric.value,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "unit": one.unit,
        "of": one.of or None,
        "note": one.note or None,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
