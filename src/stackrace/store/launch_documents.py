"""The documented shapes of usage, memory, conditions and findings, and both directions for each."""

from __future__ import annotations

from typing import TypedDict

from ..model.conditions import Conditions
from ..model.launch import HopUsage, MemorySample
from ..model.verdict import Effect, Finding
from .real import Real, real

__all__ = [
    "ConditionsDocument",
    "FindingDocument",
    "MemoryDocument",
    "UsageDocument",
    "conditions_document",
    "conditions_from",
    "finding_document",
    "finding_from",
    "memory_document",
    "memory_from",
    "usage_document",
    "usage_from",
]


class UsageDocument(TypedDict):
    """One hop during one slice."""

    hop: str
    cpu_s: Real
    processes: int
    threads: int
    pss_bytes: int


class MemoryDocument(TypedDict):
    """One moment of a launch; ``pss_bytes`` is keyed by hop."""

    at_s: Real
    pss_bytes: dict[str, int]


class ConditionsDocument(TypedDict):
    """What the machine did during one slice; a canary that did not run is None."""

    elapsed_s: Real
    cores: int
    stolen_s: Real
    foreign_s: Real
    canary_before_ns: Real | None
    canary_after_ns: Real | None


class FindingDocument(TypedDict):
    """One check's complaint; ``effect`` is a value of ``Effect``."""

    check: str
    effect: str
    seen: str
    threshold: str
    remedy: str


def usage_document(usage: HopUsage) -> UsageDocument:
    """Return ``usage`` as a document."""
    return {
        "hop": usage.hop,
        "cpu_s": real(usage.cpu_s),
        "processes": usage.processes,
        "threads": usage.threads,
        "pss_bytes": usage.pss_bytes,
    }


def usage_from(document: UsageDocument) -> HopUsage:
    """Undo ``usage_document``."""
    return HopUsage(
        hop=document["hop"],
        cpu_s=float(document["cpu_s"]),
        processes=document["processes"],
        threads=document["threads"],
        pss_bytes=document["pss_bytes"],
    )


def memory_document(sample: MemorySample) -> MemoryDocument:
    """Return ``sample`` as a document."""
    return {"at_s": real(sample.at_s), "pss_bytes": dict(sample.pss_bytes)}


def memory_from(document: MemoryDocument) -> MemorySample:
    """Undo ``memory_document``."""
    return MemorySample(at_s=float(document["at_s"]), pss_bytes=document["pss_bytes"])


def conditions_document(conditions: Conditions | None) -> ConditionsDocument | None:
    """Return ``conditions`` as a document."""
    if conditions is None:
        return None
    return {
        "elapsed_s": real(conditions.elapsed_s),
        "cores": conditions.cores,
        "stolen_s": real(conditions.stolen_s),
        "foreign_s": real(conditions.foreign_s),
        "canary_before_ns": None if conditions.canary_before_ns is None else real(conditions.canary_before_ns),
        "canary_after_ns": None if conditions.canary_after_ns is None else real(conditions.canary_after_ns),
    }


def conditions_from(document: ConditionsDocument | None) -> Conditions | None:
    """Undo ``conditions_document``."""
    if document is None:
        return None
    before_ns, after_ns = document["canary_before_ns"], document["canary_after_ns"]
    return Conditions(
        elapsed_s=float(document["elapsed_s"]),
        cores=document["cores"],
        stolen_s=float(document["stolen_s"]),
        foreign_s=float(document["foreign_s"]),
        canary_before_ns=None if before_ns is None else float(before_ns),
        canary_after_ns=None if after_ns is None else float(after_ns),
    )


def finding_document(finding: Finding) -> FindingDocument:
    """Return ``finding`` as a document."""
    return {
        "check": finding.check,
        "effect": finding.effect.value,
        "seen": finding.seen,
        "threshold": finding.threshold,
        "remedy": finding.remedy,
    }


def finding_from(document: FindingDocument) -> Finding:
    """Undo ``finding_document``."""
    return Finding(
        check=document["check"],
        effect=Effect(document["effect"]),
        seen=document["seen"],
        threshold=document["threshold"],
        remedy=document["remedy"],
    )
