"""Then and now: a published table's rows as ratios to its first one."""

from __future__ import annotations

from ...race.results.race import Race
from .cells import measured_ratio
from .model import CellName, Comparison, Row, Table
from .reading import published_ratio
from .rerun import TableOutcome

__all__ = ["table_outcome"]


def table_outcome(comparison: Comparison, race: Race | None, table: Table) -> TableOutcome:
    """Return the ratios of ``table``, then from the figures and now from ``race`` (None: it was not run)."""
    return TableOutcome(
        table=table,
        then=tuple(tuple(_then(comparison, table, row, at) for at in table.levels) for row in table.rows),
        now=tuple(tuple(_now(comparison, race, table, row, at) for at in table.levels) for row in table.rows),
    )


def _cells(table: Table, row: Row, level: int) -> tuple[CellName, CellName]:
    first = table.rows[0]
    return (
        CellName(technique=row.technique, workload=row.workload, concurrency=level),
        CellName(technique=first.technique, workload=first.workload, concurrency=level),
    )


def _then(comparison: Comparison, table: Table, row: Row, level: int) -> float | None:
    return published_ratio(comparison.figures, table.part, table.metric, *_cells(table, row, level))


def _now(comparison: Comparison, race: Race | None, table: Table, row: Row, level: int) -> float | None:
    if race is None:
        return None
    return measured_ratio(comparison, race, table.metric, *_cells(table, row, level))
