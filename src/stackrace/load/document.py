"""One JSON document about one run of the engine; ``schema/load-1.schema.json`` is its contract.

Times are seconds. What is not known is null. History of the format: version 1, the first with a name; what was
printed before had a part of its members under the same names.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from pathlib import Path

from stackrace.model.load import Counts, Load, LoadResult, Quantiles, SeriesBin, TargetResult
from stackrace.model.verdict import Finding

__all__ = ["SCHEMA", "VERSION", "document"]

VERSION = "load-1"
SCHEMA = Path(__file__).parent / "schema" / "load-1.schema.json"
"""The published schema of this version."""


def document(
    urls: Sequence[str],
    load: Load,
    result: LoadResult,
    *,
    warmup_s: float = 0.0,
    findings: Sequence[Finding] = (),
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """Return the document of a run of ``load`` against ``urls``, recorded after ``warmup_s`` seconds.

    ``findings`` are what the checks say about it, ``notes`` what else is worth telling, one sentence each.
    """
    return {
        "schema": VERSION,
        "urls": list(urls),
        "load": {**_load(load), "warmup_s": warmup_s},
        "concurrency": load.concurrency,
        "keep_alive": load.keep_alive,
        "duration_s": result.duration_s,
        **_counts(result.counts),
        "throughput_per_s": result.throughput_per_s,
        "latency": _quantiles(result.latency),
        "service": _known(result.service),
        "lag": _known(result.lag),
        "connect": _quantiles(result.connect),
        "tls": _known(result.tls),
        "pages": _known(result.pages),
        "targets": [_target(one) for one in result.targets],
        "series": [_bin(one) for one in result.series],
        "status_classes": dict(result.status_classes),
        "bytes_read": result.bytes_read,
        "connections_opened": result.connections_opened,
        "reconnects": result.reconnects,
        "established_peak": result.established_peak,
        "pool_waits": result.pool_waits,
        "retried": result.retried,
        "nonces_lost": result.nonces_lost,
        "stale_dates": result.stale_dates,
        "cached_answers": result.cached_answers,
        "surplus_bytes": result.surplus_bytes,
        "ports_exhausted": result.ports_exhausted,
        "files_exhausted": result.files_exhausted,
        "arrivals_distance": result.arrivals_distance,
        "fairness": _finite(result.fairness),
        "dead_time": _finite(result.dead_time),
        "cpu_s": result.generator_cpu_s,
        "spin_s": result.generator_spin_s,
        "wait_s": result.generator_wait_s,
        "busiest_thread": result.generator_busy,
        "ceiling_per_s": result.ceiling_per_s,
        "findings": [_finding(one) for one in findings],
        "notes": list(notes),
        "histogram": base64.b64encode(result.histogram).decode("ascii"),
    }


def _load(load: Load) -> dict[str, object]:
    return {
        "loop": "open" if load.is_open else "closed",
        "concurrency": load.concurrency,
        "rate_per_s": load.rate_per_s,
        "poisson": load.poisson,
        "seed": load.seed if load.poisson else None,
        "keep_alive": load.keep_alive,
        "requests_per_connection": load.requests_per_connection,
        "duration_s": load.duration_s,
        "requests": load.requests,
        "timeout_s": load.timeout_s,
        "connect_timeout_s": load.connect_timeout_s,
    }


def _counts(counts: Counts) -> dict[str, object]:
    return {
        "scheduled": counts.scheduled,
        "ok": counts.ok,
        "non2xx": counts.non2xx,
        "failed": dict(counts.failed),
        "timed_out": counts.timed_out,
        "in_flight": counts.in_flight,
        "unsent": counts.unsent,
    }


def _known(latency: Quantiles | None) -> dict[str, object] | None:
    return None if latency is None else _quantiles(latency)


def _quantiles(latency: Quantiles) -> dict[str, object]:
    return {
        "count": latency.count,
        "mean": latency.mean,
        "p50": latency.p50,
        "p90": latency.p90,
        "p99": latency.p99,
        "p99.9": latency.p999,
        "max": latency.max,
        "censored": sorted(name.replace("p999", "p99.9") for name in latency.censored),
    }


def _target(target: TargetResult) -> dict[str, object]:
    return {"name": target.name, **_counts(target.counts), "latency": _quantiles(target.latency)}


def _bin(one: SeriesBin) -> dict[str, object]:
    return {
        "start_s": one.start_s,
        "ok": one.ok,
        "errors": one.errors,
        "in_flight": one.in_flight,
        "p50_s": one.p50_s,
        "p99_s": one.p99_s,
    }


def _finding(one: Finding) -> dict[str, object]:
    return {
        "check": one.check,
        "effect": one.effect.value,
        "seen": one.seen,
        "threshold": one.threshold,
        "remedy": one.remedy,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
