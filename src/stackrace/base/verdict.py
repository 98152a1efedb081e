"""What the validity checks say about a slice or a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Effect(StrEnum):
    """What a finding does to the trial it was made on."""

    WARNS = "warns"
    REDOES = "redoes"
    INVALIDATES = "invalidates"


class Unit(StrEnum):
    """What a finding's value and limit are counted in."""

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
"""A thing that a description or a remedy names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's complaint: what was measured, the limit it crossed, and what follows.

    Its sentences are made in the reports, from the check's declaration and these values. The last three fields are
    for findings without a declaration, such as a doctor's advice.
    """

    check: str
    """The check's id; a title where it has no declaration."""
    effect: Effect
    value: float | None = None
    """What was measured, in ``unit``; None where it is no number."""
    limit: float | None = None
    """What ``value`` crossed."""
    unit: Unit = Unit.COUNT
    case: str = ""
    """Which of the check's descriptions fits; empty where it has one."""
    cure: str = ""
    """Which of the check's remedies fits; empty where it has one."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What description and remedy name besides."""
    seen: str = ""
    """What was seen, in words; empty where the check's declaration has them."""
    threshold: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """All findings on one trial."""

    findings: tuple[Finding, ...] = ()
    """What the checks say about it."""

    @property
    def valid(self) -> bool:
        """Whether the trial may enter the statistics: nothing invalidates it or asks to redo it."""
        return all(finding.effect is Effect.WARNS for finding in self.findings)

    @classmethod
    def of(cls, findings: Iterable[Finding | None]) -> Verdict:
        """Collect what the checks returned, silent ones left out."""
        return cls(tuple(finding for finding in findings if finding is not None))


def usual_refusal(verdicts: Iterable[Verdict]) -> Finding | None:
    """Return the last finding of the check that refused most; None where nothing was refused."""
    refusals = [finding for each in verdicts for finding in each.findings if finding.effect is not Effect.WARNS]
    usual = Counter(finding.check for finding in refusals).most_common(1)
    return [finding for finding in refusals if finding.check == usual[0][0]][-1] if usual else None
