"""The launches' part of the JSON document: every slice with its accounting, findings and usage."""

from __future__ import annotations

from ..model.conditions import Conditions
from ..model.launch import Failure, HopUsage, Launch, MemorySample, Slice
from ..model.load import Counts, LoadResult, Quantiles, SeriesBin, TargetResult
from ..model.verdict import Finding
from .clean import printable
from .document_leaves import latency, load, whole

__all__ = ["failure", "finding", "launch"]


def failure(one: Failure) -> dict[str, object]:
    """Return why a launch failed, with the tail of its logs."""
    return {"kind": one.kind.value, "message": printable(one.message), "log": printable(one.log)}


def launch(one: Launch, *, series: bool) -> dict[str, object]:
    """Return one launch; ``series`` adds the 100 ms bins of its slices."""
    return {
        "id": one.id,
        "block": one.block,
        "stack": printable(one.stack),
        "ready_s": whole(one.ready_s),
        "warmup_s": whole(one.warmup_s),
        "failure": failure(one.failure) if one.failure else None,
        "findings": [finding(found) for found in one.verdict.findings],
        "slices": [_slice(entry, series) for entry in one.slices],
        "memory": [_memory(sample) for sample in one.memory],
    }


def _memory(sample: MemorySample) -> dict[str, object]:
    sizes = {printable(hop): size for hop, size in sample.pss_bytes.items()}
    return {"at_s": whole(sample.at_s), "pss_bytes": sizes}


def _slice(one: Slice, series: bool) -> dict[str, object]:
    built = {
        "index": one.index,
        "workload": printable(one.workload),
        "load": load(one.load),
        "valid": one.verdict.valid,
        **_result(one.result),
        "findings": [finding(found) for found in one.verdict.findings],
        "usage": [_usage(usage) for usage in one.usage],
        "conditions": None if one.conditions is None else _conditions(one.conditions),
    }
    if series:
        built["series"] = [_bin(entry) for entry in one.result.series]
    return built


def _result(result: LoadResult) -> dict[str, object]:
    return {
        "duration_s": whole(result.duration_s),
        "throughput_per_s": whole(result.throughput_per_s),
        "counts": _counts(result.counts),
        "latency": latency(result.latency),
        "connect": latency(result.connect),
        "status_classes": dict(result.status_classes),
        "bytes_read": result.bytes_read,
        "connections_opened": result.connections_opened,
        "reconnects": result.reconnects,
        "established_peak": result.established_peak,
        "generator_cpu_s": whole(result.generator_cpu_s),
        "generator_wait_s": whole(result.generator_wait_s),
        "generator_busy": whole(result.generator_busy),
        "fairness": whole(result.fairness),
        "dead_time": whole(result.dead_time),
        "service": _known(result.service),
        "lag": _known(result.lag),
        "tls": _known(result.tls),
        "pages": _known(result.pages),
        "targets": [_target(one) for one in result.targets],
        "ceiling_per_s": whole(result.ceiling_per_s),
        "generator_spin_s": whole(result.generator_spin_s),
        "pool_waits": result.pool_waits,
        "retried": result.retried,
        "nonces_lost": result.nonces_lost,
        "stale_dates": result.stale_dates,
        "cached_answers": result.cached_answers,
        "surplus_bytes": result.surplus_bytes,
        "ports_exhausted": result.ports_exhausted,
        "files_exhausted": result.files_exhausted,
        "arrivals_distance": whole(result.arrivals_distance),
    }


def _known(quantiles: Quantiles | None) -> dict[str, object] | None:
    return None if quantiles is None else latency(quantiles)


def _target(one: TargetResult) -> dict[str, object]:
    return {"name": printable(one.name), "counts": _counts(one.counts), "latency": latency(one.latency)}


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


def finding(one: Finding) -> dict[str, object]:
    """Return one check's complaint."""
    return {
        "check": printable(one.check),
        "effect": one.effect.value,
        "seen": printable(one.seen),
        "threshold": printable(one.threshold),
        "remedy": printable(one.remedy),
    }


def _usage(usage: HopUsage) -> dict[str, object]:
    return {
        "hop": printable(usage.hop),
        "cpu_s": whole(usage.cpu_s),
        "processes": usage.processes,
        "threads": usage.threads,
        "pss_bytes": usage.pss_bytes,
    }


def _conditions(one: Conditions) -> dict[str, object]:
    return {
        "elapsed_s": whole(one.elapsed_s),
        "cores": one.cores,
        "stolen_s": whole(one.stolen_s),
        "foreign_s": whole(one.foreign_s),
        "canary_before_ns": whole(one.canary_before_ns),
        "canary_after_ns": whole(one.canary_after_ns),
    }


def _bin(one: SeriesBin) -> dict[str, object]:
    return {
        "start_s": whole(one.start_s),
        "ok": one.ok,
        "errors": one.errors,
        "in_flight": one.in_flight,
        "p50_s": whole(one.p50_s),
        "p99_s": whole(one.p99_s),
    }
