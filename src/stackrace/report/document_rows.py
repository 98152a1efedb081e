"""The standing's part of the JSON document."""

from __future__ import annotations

from ..model.standing import Interval, Level, Row
from .clean import printable
from .document_leaves import latency, load, whole

__all__ = ["level", "row"]


def level(one: Level) -> dict[str, object]:
    """Return one load level with its rows."""
    return {
        "label": printable(one.label),
        "workload": printable(one.workload),
        "load": load(one.load),
        "rows": [row(entry) for entry in one.rows],
    }


def row(one: Row) -> dict[str, object]:
    """Return one stack's row."""
    return {
        "stack": printable(one.stack),
        "tier": one.tier,
        "rank": list(one.rank),
        "throughput": {"unit": "1/s", **_interval(one.throughput_per_s)},
        "ratio": _interval(one.ratio),
        "latency": latency(one.latency),
        "requests": one.requests,
        "errors": one.errors,
        "cpu_ms_per_request": {printable(hop): whole(ms) for hop, ms in one.cpu_ms_per_request.items()},
        "memory_bytes": {printable(hop): size for hop, size in one.memory_bytes.items()},
        "launches": one.launches,
        "slices": one.slices,
        "ready_s": whole(one.ready_s),
    }


def _interval(interval: Interval) -> dict[str, object]:
    return {"value": whole(interval.value), "low": whole(interval.low), "high": whole(interval.high)}
