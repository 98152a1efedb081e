"""The sentences of a finding, filled in from its check's declaration and its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from ..model.numbers import count, mebibytes, number, percent
from ..model.units import DURATION, SIZE
from ..model.verdict import Finding as WordedFinding
from .evidence import Finding, Unit
from .words import Words

__all__ = ["limit_in_words", "worded"]


def _named(noun: str, numbers: tuple[int, ...]) -> str:
    """Write ``core 3``, ``cores 0, 1``."""
    return f"{noun}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


def _lumps(sizes: Mapping[str, int]) -> str:
    return "; ".join(f"{count(size)} requests took a little over {mark_s} s" for mark_s, size in sizes.items())


_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "cores": lambda numbers: _named("core", numbers),
    "count": count,
    "duration": DURATION.format,
    "gib": lambda size: number(size / 2**30),
    "list": ", ".join,
    "lumps": _lumps,
    "mib": mebibytes,
    "moved": lambda change: f"{'rose' if change > 0 else 'fell'} by {percent(abs(change))}",
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
    Unit.PROBABILITY: lambda limit: f"{limit:g}",
    Unit.INDEX: lambda limit: f"{limit:g}",
    Unit.RATIO: lambda limit: f"{limit:g}",
}


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        written = _FORMATS.get(format_spec)
        return written(value) if written else str(super().format_field(value, format_spec))


_FORMATTER = _Formatter()


def _fill(template: str, finding: Finding, knob: Words) -> str:
    values = {**finding.facts, "value": finding.value, "limit": finding.limit, "knob": knob}
    return _FORMATTER.vformat(template, (), values)


def worded(
    title: str, finding: Finding, *, seen: str, threshold: str, remedy: str, least: bool, knob: Words
) -> WordedFinding:
    """Return ``finding`` in words, from templates; an empty ``threshold`` stands for the limit itself."""
    return WordedFinding(
        check=title,
        effect=finding.effect,
        seen=_fill(seen, finding, knob),
        threshold=_fill(threshold, finding, knob) if threshold else _limit(finding, least=least),
        remedy=_fill(remedy, finding, knob),
    )


def _limit(finding: Finding, *, least: bool) -> str:
    if not finding.limit:
        return "none"
    return f"at {'least' if least else 'most'} {limit_in_words(finding.unit, finding.limit)}"


def limit_in_words(unit: Unit, limit: float) -> str:
    """Write a limit with its unit: ``85 %``, ``50 ms``."""
    return _LIMITS[unit](limit)
