"""The documented shapes of usage, memory and findings, and both directions for each."""

from __future__ import annotations

from typing import TypedDict

from ..model.launch import HopUsage, MemorySample
from ..model.verdict import Effect, Finding
from .real import Real, real

__all__ = [
    "FindingDocument",
    "MemoryDocument",
    "UsageDocument",
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
