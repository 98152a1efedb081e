"""All checks on what is planned, before anything is started."""

from __future__ import annotations

from ..base.verdict import Verdict
from .declaration import Check
from .disk import disk_nearly_full
from .kernel_limits import accept_queue, ephemeral_ports, file_descriptors, time_wait
from .planned_resources import memory_limit, shared_cores, shared_threads
from .preparation import Preparation

__all__ = ["PREFLIGHT_CHECKS", "preflight"]

PREFLIGHT_CHECKS: tuple[Check[Preparation], ...] = (
    file_descriptors,
    ephemeral_ports,
    time_wait,
    accept_queue,
    shared_cores,
    disk_nearly_full,
    shared_threads,
    memory_limit,
)


def preflight(plan: Preparation) -> Verdict:
    """Run every check on what is planned; an invalid verdict means that the race must not start."""
    return Verdict.of(check(plan) for check in PREFLIGHT_CHECKS)
