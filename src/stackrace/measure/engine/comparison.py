"""Two runs held against each other, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from .saved_run import Saved

__all__ = ["Comparison", "Difference", "Kind", "Line", "compare"]


class Kind(StrEnum):
    """What a figure counts, and so how it is written."""

    RATE = "rate"
    DURATION = "duration"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure before and after."""

    name: str
    """As documents name it."""
    kind: Kind
    before: float | None
    """Per second, seconds or a number, as ``kind`` says; None where it is not known."""
    after: float | None
    before_bound: bool = False
    """Whether ``before`` is only a lower bound ("≥")."""
    after_bound: bool = False

    @property
    def ratio(self) -> float | None:
        """After ÷ before; None where there is nothing to divide, or two bounds say nothing."""
        if (
            self.before is None
            or self.after is None
            or self.before <= 0
            or (self.before_bound and self.after_bound)
        ):
            return None
        return self.after / self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A part of the load that was not the same in both runs."""

    what: str
    """The setting, as documents name it."""
    before: object
    after: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All figures of two runs, and in what their loads differ."""

    lines: tuple[Line, ...]
    differences: tuple[Difference, ...]


def compare(before: Saved, after: Saved) -> Comparison:
    """Return ``after`` against ``before``."""
    return Comparison(lines=tuple(_lines(before, after)), differences=tuple(_differences(before, after)))


def _lines(before: Saved, after: Saved) -> Iterator[Line]:
    yield Line(name="throughput", kind=Kind.RATE, before=before.throughput_per_s, after=after.throughput_per_s)
    for field, name in {
        "mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max",
    }.items():  # fmt: skip
        yield Line(
            name=name,
            kind=Kind.DURATION,
            before=_latency(before, field),
            after=_latency(after, field),
            before_bound=field in before.latency.censored,
            after_bound=field in after.latency.censored,
        )
    yield Line(name="cpu_s_per_request", kind=Kind.DURATION, before=_cpu(before), after=_cpu(after))
    yield Line(name="errors", kind=Kind.COUNT, before=before.errors, after=after.errors)


def _latency(saved: Saved, field: str) -> float | None:
    value: float = getattr(saved.latency, field)
    return value if saved.latency.count else None


def _cpu(saved: Saved) -> float | None:
    return saved.cpu_s / saved.answered if saved.answered else None


def _differences(before: Saved, after: Saved) -> Iterator[Difference]:
    if before.urls != after.urls:
        yield Difference(what="urls", before=list(before.urls), after=list(after.urls))
    for key in dict.fromkeys((*before.load, *after.load)):
        if before.load.get(key) != after.load.get(key):
            yield Difference(what=key, before=before.load.get(key), after=after.load.get(key))
