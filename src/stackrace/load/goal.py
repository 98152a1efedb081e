"""A service level objective: how fast answers have to be, and whether a run of an open loop kept it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stackrace.model.load import LoadResult
from stackrace.model.units import DURATION

from ..model.numbers import percent
from .histogram import QUANTILES

__all__ = ["MOST_ERRORS", "MOST_UNSENT", "Goal", "label"]

MOST_ERRORS = 0.001
"""The share of requests that may fail or be answered wrongly."""

MOST_UNSENT = 0.005
"""The share of requests that may never be sent."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The most that quantiles of latency may be.

    ``limits_s`` maps names of ``QUANTILES``, one at least, to seconds.
    """

    limits_s: Mapping[str, float]

    @property
    def text(self) -> str:
        """The goal as reports say it: ``p50 ≤ 10 ms and p99 ≤ 50 ms``."""
        return " and ".join(f"{label(name)} ≤ {DURATION.format(limit)}" for name, limit in self.limits_s.items())

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles that have limits, each in (0, 1)."""
        return tuple(QUANTILES[name] for name in self.limits_s)

    def missed_by(self, result: LoadResult) -> Iterator[str]:
        """Yield how ``result`` missed the goal, a clause for each way; nothing if it kept it.

        Whether requests piled up is for `checks.open_loop.overload` to say.
        """
        counts = result.counts
        for name, limit in self.limits_s.items():
            found = getattr(result.latency, name)
            if found > limit:
                bound = "at least " if name in result.latency.censored else ""
                yield f"{label(name)} was {bound}{DURATION.format(found)}"
        if counts.errors > MOST_ERRORS * counts.scheduled:
            yield f"{percent(counts.errors / counts.scheduled)} failed or were answered wrongly"
        if counts.unsent > MOST_UNSENT * counts.scheduled:
            yield f"{percent(counts.unsent / counts.scheduled)} were never sent"
        if not counts.ok:
            yield "nothing was answered rightly"


def label(name: str) -> str:
    """Return the usual name of a quantile: p99.9 for p999."""
    return {"p999": "p99.9"}.get(name, name)
