"""Sentences about other programs on the machine."""

from __future__ import annotations

from collections.abc import Iterable

from ...base.numbers import percent
from ...base.verdict import Verdict, usual_refusal
from ...measure.host import Disturbance
from ...validity import DECLARATIONS
from ...validity.machine import contention
from .findings import remedy, seen

__all__ = ["busy", "disturbed"]

_CONTENTION = contention.declaration.id


def disturbed(disturbance: Disturbance) -> str:
    """Say who has the race's cores."""
    who = disturbance.offenders[0].label if disturbance.offenders else "other programs"
    return f"waiting for quiet: {who} has {percent(disturbance.share)} of the race's cores"


def busy(verdicts: Iterable[Verdict]) -> str:
    """Say that other programs let nothing be measured; empty where slices were refused for something else."""
    every = list(verdicts)
    usual = usual_refusal(every)
    if usual is None or not DECLARATIONS[usual.check].passing:
        return ""
    # the gravest that names who it was, where there is one
    named = [finding for verdict in every for finding in verdict.findings if finding.check == _CONTENTION]
    refused = max(named, key=lambda finding: finding.value or 0.0, default=usual)
    return f"this machine is busy: {seen(refused)}; nothing could be measured; {remedy(refused)}"
