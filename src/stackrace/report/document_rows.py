"""The standing's part of the JSON document."""

from __future__ import annotations

from ..base.printable import printable
from ..race.results.standing import Interval, Level, Row
from .document_leaves import plain, whole

__all__ = ["level", "row"]


def level(level: Level) -> dict[str, object]:
    """Return one load level with its rows."""
    return {
        "label": printable(level.label),
        "workload": printable(level.workload),
        "load": plain(level.load),
        "rows": [row(each) for each in level.rows],
    }


def row(row: Row) -> dict[str, object]:
    """Return one stack's row."""
    return {
        **plain(row),
        "throughput": {"unit": "1/s", **plain(row.throughput_per_s)},
        "latency_limits": {name: _seconds(limits) for name, limits in row.latency_limits.items()},
    }


def _seconds(limits: Interval | None) -> dict[str, object] | None:
    if limits is None:
        return None
    return {"value_s": whole(limits.value), "low_s": whole(limits.low), "high_s": whole(limits.high)}
