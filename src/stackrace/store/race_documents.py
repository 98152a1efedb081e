"""The documented shapes of a race's cores and host, and both directions for each."""

from __future__ import annotations

from dataclasses import fields
from typing import NotRequired, TypedDict

from ..model.duty import Duty
from ..model.host import HostFacts
from ..model.race import Budget, Enforcement
from .real import Real, real

__all__ = [
    "BudgetDocument",
    "DutyDocument",
    "HostDocument",
    "budget_document",
    "budget_from",
    "duty_document",
    "duty_from",
    "host_document",
    "host_from",
]


class BudgetDocument(TypedDict):
    """Numbers of cores; memory, what enforces the budget, and quota are not in rows of earlier versions."""

    stack_cores: list[int]
    generator_cores: list[int]
    memory_bytes: NotRequired[int | None]
    enforced: NotRequired[str]
    quota: NotRequired[bool]


DutyDocument = dict[str, Real]
"""Seconds by the names of ``model.duty.Duty``; those that a later version adds are not in rows of earlier ones."""


class HostDocument(TypedDict):
    """``limits`` is keyed by sysctl or rlimit name."""

    system: str
    kernel: str
    cpu: str
    cores: int
    memory_bytes: int
    virtual: str
    python: str
    limits: dict[str, int]


def budget_document(budget: Budget) -> BudgetDocument:
    """Return ``budget`` as a document."""
    return {
        "stack_cores": list(budget.stack_cores),
        "generator_cores": list(budget.generator_cores),
        "memory_bytes": budget.memory_bytes,
        "enforced": budget.enforced.value,
        "quota": budget.quota,
    }


def budget_from(document: BudgetDocument) -> Budget:
    """Undo ``budget_document``."""
    return Budget(
        stack_cores=tuple(document["stack_cores"]),
        generator_cores=tuple(document["generator_cores"]),
        memory_bytes=document.get("memory_bytes"),
        enforced=Enforcement(document.get("enforced", Enforcement.AFFINITY)),
        quota=document.get("quota", False),
    )


def duty_document(duty: Duty) -> DutyDocument:
    """Return ``duty`` as a document."""
    return {one.name: real(getattr(duty, one.name)) for one in fields(duty)}


def duty_from(document: DutyDocument) -> Duty:
    """Undo ``duty_document``."""
    return Duty(**{name: float(seconds) for name, seconds in document.items()})


def host_document(host: HostFacts) -> HostDocument:
    """Return ``host`` as a document."""
    return {
        "system": host.system,
        "kernel": host.kernel,
        "cpu": host.cpu,
        "cores": host.cores,
        "memory_bytes": host.memory_bytes,
        "virtual": host.virtual,
        "python": host.python,
        "limits": dict(host.limits),
    }


def host_from(document: HostDocument) -> HostFacts:
    """Undo ``host_document``."""
    return HostFacts(**document)
