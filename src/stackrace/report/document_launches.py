"""The launches' part of the JSON document: every slice with its accounting, findings and usage."""

from __future__ import annotations

from ..base.printable import printable
from ..base.verdict import Finding
from ..measure.launch import Failure, Launch, Slice
from .document_leaves import plain, whole
from .words import failures, findings

__all__ = ["failure", "finding", "launch"]


def failure(cause: Failure) -> dict[str, object]:
    """Return why a launch failed, with the tail of its logs."""
    return {
        "code": cause.kind.value,
        "kind": failures.kind(cause),
        "message": printable(failures.message(cause)),
        "log": printable(cause.log),
    }


def launch(record: Launch, *, series: bool) -> dict[str, object]:
    """Return one launch; ``series`` adds the 100 ms bins of its slices."""
    return {
        "id": record.id,
        "block": record.block,
        "stack": printable(record.stack),
        "machine": printable(record.machine),
        "ready_s": whole(record.ready_s),
        "warmup_s": whole(record.warmup_s),
        "failure": failure(record.failure) if record.failure else None,
        "findings": [finding(complaint) for complaint in record.verdict.findings],
        "slices": [_slice(entry, series) for entry in record.slices],
        "memory": plain(record.memory),
    }


def _slice(record: Slice, series: bool) -> dict[str, object]:
    return {
        "index": record.index,
        "workload": printable(record.workload),
        "load": plain(record.load),
        "valid": record.verdict.valid,
        "throughput_per_s": whole(record.throughput_per_s),
        **plain(record.result),
        "findings": [finding(complaint) for complaint in record.verdict.findings],
        "usage": plain(record.usage),
        "conditions": plain(record.conditions),
        **({"series": plain(record.result.series)} if series else {}),
    }


def finding(complaint: Finding) -> dict[str, object]:
    """Return one check's complaint."""
    return {
        name: printable(value) if isinstance(value, str) else value
        for name, value in findings.document(complaint).items()
    }
