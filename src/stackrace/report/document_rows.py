"""The standing's part of the JSON document."""

from __future__ import annotations

from ..model.scaling import ScalingCurve, ScalingLaw
from ..model.standing import Interval, Level, Row
from .clean import printable
from .document_leaves import plain, whole

__all__ = ["curve", "level", "row"]


def level(one: Level) -> dict[str, object]:
    """Return one load level with its rows."""
    return {
        "label": printable(one.label),
        "workload": printable(one.workload),
        "load": plain(one.load),
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
        "latency": plain(one.latency),
        "requests": one.requests,
        "errors": one.errors,
        "cpu_ms_per_request": {printable(hop): whole(ms) for hop, ms in one.cpu_ms_per_request.items()},
        "memory_bytes": {printable(hop): size for hop, size in one.memory_bytes.items()},
        "launches": one.launches,
        "slices": one.slices,
        "ready_s": whole(one.ready_s),
        "latency_limits": {name: _seconds(found) for name, found in one.latency_limits.items()},
    }


def curve(one: ScalingCurve) -> dict[str, object]:
    """Return how one stack's throughput grows with the connections."""
    return {
        "stack": printable(one.stack),
        "workload": printable(one.workload),
        "keep_alive": one.keep_alive,
        "levels": list(one.levels),
        "knee": one.knee,
        "law": None if one.law is None else _law(one.law),
        "unfit": plain(one.unfit),
    }


def _law(law: ScalingLaw) -> dict[str, object]:
    return {
        "single_per_s": _interval(law.single_per_s),
        "contention": _interval(law.contention),
        "coherency": _interval(law.coherency),
        "peak": None if law.peak is None else _interval(law.peak),
        "residual": whole(law.residual),
    }


def _seconds(interval: Interval | None) -> dict[str, object] | None:
    if interval is None:
        return None
    return {"value_s": whole(interval.value), "low_s": whole(interval.low), "high_s": whole(interval.high)}


def _interval(interval: Interval) -> dict[str, object]:
    return {"value": whole(interval.value), "low": whole(interval.low), "high": whole(interval.high)}
