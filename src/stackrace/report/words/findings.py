"""The sentences of a finding, filled in from its check's declaration and its facts.

A finding that has words of its own, as advice has, keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from ...base.numbers import LEAST, count, mebibytes, number, percent, setting
from ...base.units import DURATION, SIZE
from ...base.verdict import Effect, Finding, Unit
from ...validity import DECLARATIONS
from ...validity.planned_resources import memory_limit
from .knobs import RACE, Knobs

__all__ = [
    "FindingDocument",
    "check_title",
    "finding_document",
    "limit_in_words",
    "refusal",
    "remedy",
    "seen",
    "threshold",
    "title",
    "warning",
]


def _named(noun: str, numbers: tuple[int, ...]) -> str:
    """Write ``core 3``, ``cores 0, 1``."""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "cores": lambda numbers: _named("core", numbers),
    "count": count,
    "duration": DURATION.format,
    "g": setting,
    "gib": lambda size: number(size / 2**30),
    "list": ", ".join,
    "lumps": lambda sizes: "; ".join(
        f"{count(size)} requests took a little over {mark_s} s" for mark_s, size in sizes.items()
    ),
    "mib": mebibytes,
    "moved": lambda change: f"{'rose' if change > 0 else 'fell'} by {percent(abs(change))}",
    "p": lambda p: f"p < {LEAST}" if 0 < p < LEAST else f"p = {number(p)}",
    "pace": lambda change: f"{percent(abs(change))} {'faster' if change > 0 else 'slower'}",
    "percent": percent,
    "ports": lambda numbers: _named("port", numbers),
    "size": SIZE.format,
    "stages": lambda numbers: ", ".join(f"{number} at {stage}" for stage, number in numbers.items()),
    "tally": lambda numbers: ", ".join(f"{number} × {name}" for name, number in numbers.items()),
}
"""How templates have values written, beside Python's own formats."""

_LIMITS: Mapping[Unit, Callable[[float], str]] = {
    Unit.COUNT: count,
    Unit.SHARE: percent,
    Unit.SECONDS: DURATION.format,
    Unit.BYTES: SIZE.format,
    Unit.PAGES: lambda limit: f"{count(limit)} pages",
    Unit.PER_SECOND: lambda limit: f"{count(limit)}/s",
    Unit.BYTES_PER_SECOND: lambda limit: f"{count(limit / 2**20)} MiB/s",
    Unit.SHARE_PER_SECOND: lambda limit: f"{percent(limit)} per second",
    Unit.PROBABILITY: setting,
    Unit.INDEX: setting,
    Unit.RATIO: setting,
}


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        written = _FORMATS.get(format_spec)
        return written(value) if written else str(super().format_field(value, format_spec))


_FORMATTER = _Formatter()


def title(finding: Finding) -> str:
    """Name the finding's check."""
    return check_title(finding.check)


def check_title(check: str) -> str:
    """Name the check of this id; what has no declaration is called by a title already."""
    declared = DECLARATIONS.get(check)
    return declared.title if declared else check


def seen(finding: Finding, knobs: Knobs = RACE) -> str:
    """Say what was seen."""
    declared = DECLARATIONS.get(finding.check)
    if finding.seen or declared is None:
        return finding.seen
    return _filled(declared.seen, finding.case, finding, knobs)


def remedy(finding: Finding, knobs: Knobs = RACE) -> str:
    """Say what to do about it."""
    declared = DECLARATIONS.get(finding.check)
    if finding.remedy or declared is None:
        return finding.remedy
    return _filled(declared.remedy, finding.cure, finding, knobs)


def threshold(finding: Finding, knobs: Knobs = RACE) -> str:
    """Say what should have been."""
    declared = DECLARATIONS.get(finding.check)
    if finding.threshold or declared is None:
        return finding.threshold
    if declared.threshold:
        return _filled(declared.threshold, finding.case, finding, knobs)
    if not finding.limit:
        return "none"
    return f"at {'least' if declared.least else 'most'} {limit_in_words(finding.unit, finding.limit)}"


def warning(finding: Finding, knobs: Knobs = RACE) -> str:
    """Say in one sentence what was seen and what to do about it."""
    return f"{seen(finding, knobs)}: {remedy(finding, knobs)}"


def refusal(finding: Finding, knobs: Knobs = RACE) -> str:
    """Say why nothing is started, beginning with what the reader can turn."""
    option = knobs.memory if finding.check == memory_limit.declaration.id else knobs.clients
    lead = f"{option}: {seen(finding, knobs)}, {threshold(finding, knobs)}"
    return f"{lead}; {remedy(finding, knobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingDocument:
    """One check's complaint in a JSON document: its values, and its sentences."""

    id: str
    """The check's id."""
    check: str
    """The check's title."""
    effect: Effect
    """What follows for the measurement."""
    value: float | None = field(metadata={"signed": True})
    """What was measured, in ``unit``."""
    limit: float | None = field(metadata={"signed": True})
    """What ``value`` crossed."""
    unit: Unit
    """What `value` and `limit` are counted in."""
    seen: str
    """What was seen."""
    threshold: str
    """What should have been."""
    remedy: str
    """What to do about it."""


def finding_document(finding: Finding, knobs: Knobs = RACE) -> FindingDocument:
    """Return ``finding`` for a JSON document."""
    return FindingDocument(
        id=finding.check,
        check=title(finding),
        effect=finding.effect,
        value=finding.value,
        limit=finding.limit,
        unit=finding.unit,
        seen=seen(finding, knobs),
        threshold=threshold(finding, knobs),
        remedy=remedy(finding, knobs),
    )


def limit_in_words(unit: Unit, limit: float) -> str:
    """Write a limit with its unit: ``85 %``, ``50 ms``."""
    return _LIMITS[unit](limit)


def _filled(texts: str | Mapping[str, str], key: str, finding: Finding, knobs: Knobs) -> str:
    """Fill a declared text; what somebody else kept may lack what it names, and is then shown as it is."""
    values = {**finding.facts, "value": finding.value, "limit": finding.limit, "knob": knobs}
    try:
        return _FORMATTER.vformat(texts if isinstance(texts, str) else texts[key], (), values)
    except (AttributeError, LookupError, TypeError, ValueError):
        return f"{finding.value} where the limit is {finding.limit} ({finding.unit})"
