"""What the validity checks say about a slice or a launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Effect", "Finding", "Verdict"]


class Effect(StrEnum):
    """What a finding does to the trial it was made on."""

    WARNS = "warns"
    REDOES = "redoes"
    INVALIDATES = "invalidates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's complaint: what was seen, the threshold it crossed, what follows, and the way out."""

    check: str
    effect: Effect
    seen: str
    threshold: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """All findings on one trial."""

    findings: tuple[Finding, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the trial may enter the statistics: nothing invalidates it or asks to redo it."""
        return all(finding.effect is Effect.WARNS for finding in self.findings)

    @classmethod
    def of(cls, findings: Iterable[Finding | None]) -> Verdict:
        """Collect what the checks returned, silent ones left out."""
        return cls(tuple(finding for finding in findings if finding is not None))
