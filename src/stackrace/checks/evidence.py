"""What a check found, as values; its words are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ..model.verdict import Effect

__all__ = ["Fact", "Finding", "Unit"]

Fact = str | int | float | tuple[int, ...] | tuple[str, ...] | Mapping[str, int]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check's complaint: what was measured, the limit it crossed, and what follows."""

    check: str
    """The check's id."""
    effect: Effect
    value: float | None = None
    """What was measured, in ``unit``; None where a state was found, not a number."""
    limit: float | None = None
    """What ``value`` crossed."""
    unit: Unit = Unit.COUNT
    case: str = ""
    """Which of the check's descriptions fits; empty where it has one."""
    cure: str = ""
    """Which of the check's remedies fits; empty where it has one."""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What description and remedy name besides."""
