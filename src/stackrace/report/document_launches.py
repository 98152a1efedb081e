"""The launches' part of the JSON document: every slice with its accounting, findings and usage."""

from __future__ import annotations

from ..model.launch import Failure, Launch, Slice
from ..model.verdict import Finding
from .clean import printable
from .document_leaves import plain, whole
from .words import failures, findings

__all__ = ["failure", "finding", "launch"]


def failure(one: Failure) -> dict[str, object]:
    """Return why a launch failed, with the tail of its logs."""
    return {
        "code": one.kind.value,
        "kind": failures.kind(one),
        "message": printable(failures.message(one)),
        "log": printable(one.log),
    }


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
        "memory": plain(one.memory),
    }


def _slice(one: Slice, series: bool) -> dict[str, object]:
    return {
        "index": one.index,
        "workload": printable(one.workload),
        "load": plain(one.load),
        "valid": one.verdict.valid,
        "throughput_per_s": whole(one.result.throughput_per_s),
        **plain(one.result),
        "findings": [finding(found) for found in one.verdict.findings],
        "usage": plain(one.usage),
        "conditions": plain(one.conditions),
        **({"series": plain(one.result.series)} if series else {}),
    }


def finding(one: Finding) -> dict[str, object]:
    """Return one check's complaint."""
    return {
        name: printable(value) if isinstance(value, str) else value
        for name, value in findings.document(one).items()
    }
