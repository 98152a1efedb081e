"""Verdicts of the validity checks on a slice or a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """Effect of a finding on its trial."""

    WARNS = "warns"
    REDOES = "redoes"
    INVALIDATES = "invalidates"


class Unit(StrEnum):
    """Unit of a finding's value and limit."""

    COUNT = "count"
    SHARE = "share"
    SECONDS = "s"
    BYTES = "bytes"
    PAGES = "pages"
    PER_SECOND = "1/s"
    BYTES_PER_SECOND = "bytes/s"
    SHARE_PER_SECOND = "share/s"
    PROBABILITY = "p"
    INDEX = "index"
    RATIO = "ratio"


Fact = str | int | float | tuple[int | str, ...] | Mapping[str, int]
"""Fact that a description or a remedy mentions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's complaint: the measured value, the limit it crossed, and the consequence.

    The reports make its sentences from the check's declaration and these values. The last three fields are
    for findings without a declaration, such as a doctor's advice.
    """

    check: str
    """Id of the check; a title if it has no declaration."""
    effect: Effect
    value: float | None = None
    """Measured value, in ``unit``; None if it is no number."""
    limit: float | None = None
    """Limit that ``value`` crossed."""
    unit: Unit = Unit.COUNT
    case: str = ""
    """Name of the check's description that fits; empty if the check has only one."""
    cure: str = ""
    """Name of the check's remedy that fits; empty if the check has only one."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """Further facts that description and remedy mention."""
    seen: str = ""
    """Observation in words; empty if the check's declaration has them."""
    threshold: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """All findings on one trial."""

    findings: tuple[Finding, ...] = ()
    """Findings of the checks."""

    @property
    def valid(self) -> bool:
        """True if the trial may enter the statistics: nothing invalidates it or asks to redo it."""
        return all(finding.effect is Effect.WARNS for finding in self.findings)

    @classmethod
    def of(cls, findings: Iterable[Finding | None]) -> Verdict:
        """Return a verdict with the findings that the checks returned, without None."""
        return cls(tuple(finding for finding in findings if finding is not None))


def usual_refusal(verdicts: Iterable[Verdict]) -> Finding | None:
    """Return the last finding of the check that refused most often; None if nothing was refused."""
    refusals = [finding for each in verdicts for finding in each.findings if finding.effect is not Effect.WARNS]
    usual = Counter(finding.check for finding in refusals).most_common(1)
    return [finding for finding in refusals if finding.check == usual[0][0]][-1] if usual else None
